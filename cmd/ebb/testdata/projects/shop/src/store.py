def handler(event, context):
    return {**event, "stored": True}
