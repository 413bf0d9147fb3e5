"""Does the tasks of checkout.asl.json: python3 worker.py [http://127.0.0.1:8083]"""
import json, sys, threading, urllib.error, urllib.request

SERVER = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8083"

def say(what, body):
    ask = urllib.request.Request(f"{SERVER}/tasks/{what}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(ask, timeout=60) as answer:
            return json.loads(answer.read() or "null")
    except urllib.error.HTTPError as refused:  # such as 409: the task is no longer ours
        print(refused.code, refused.read().decode(), flush=True)

def keep(task, done):  # a lease lasts 30 seconds
    while not done.wait(10) and say(f"{task['id']}/heartbeat", {}):
        pass

def work(task):  # under task["key"], which is the same however often the task is given
    print("undo" if "revert" in task else "do", task["key"], flush=True)  # by task["deadline"], if it has one
    if task["kind"] == "charge" and task["input"]["total"] > 1000:
        return "fail", {"code": "CardDeclined", "message": "that is too much", "retryable": False}
    return "complete", {"result": {"done": task["kind"]}}

while True:
    if task := say("poll", {"kinds": ["reserve", "charge"], "worker": "python"}):
        threading.Thread(target=keep, args=(task, done := threading.Event()), daemon=True).start()
        how, body = work(task)
        done.set()
        say(f"{task['id']}/{how}", body)
