import os


def handler(event, context):
    return {"width": int(os.environ["WIDTH"]), "bucket": os.environ["BUCKET"]}
