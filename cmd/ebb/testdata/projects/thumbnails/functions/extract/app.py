def handler(event, context):
    return {"format": "PNG", "name": event["name"]}
