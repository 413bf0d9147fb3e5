def handler(event, context):
    return {"price": event.get("price", 10)}
