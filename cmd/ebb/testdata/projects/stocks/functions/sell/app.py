def handler(event, context):
    return {"id": "sold", "price": event["price"]}
