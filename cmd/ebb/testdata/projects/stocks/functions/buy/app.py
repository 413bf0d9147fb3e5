def handler(event, context):
    return {"id": "bought", "price": event["price"]}
