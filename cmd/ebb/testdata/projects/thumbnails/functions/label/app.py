def handler(event, context):
    return ["tree", "house"]
