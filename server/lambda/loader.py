# Runs a handler for the invocations of AWS Lambda's Runtime API, as AWS's runtime of Python does.
import decimal, importlib, json, logging, os, sys, time, traceback
from http.client import HTTPConnection
from types import SimpleNamespace

BAD_NAME = "Bad handler '%s': not enough values to unpack (expected 2, got 1)"
api, now, env = HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"]), SimpleNamespace(id=""), os.environ


def request(method, path, body=None, kind=""):
    api.request(method, "/2018-06-01/runtime/" + path, body, {"Lambda-Runtime-Function-Error-Type": kind})
    answer = api.getresponse()
    return answer.headers, answer.read()


class Fault(Exception):  # with a code of AWS
    def __init__(self, kind, message, trace=()):
        super().__init__(message)
        self.kind, self.trace = kind, list(trace)


class Context:
    def __init__(self, headers):
        self.aws_request_id = now.id
        self.invoked_function_arn = headers["Lambda-Runtime-Invoked-Function-Arn"]
        self.function_name, self.function_version = env["AWS_LAMBDA_FUNCTION_NAME"], env["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb, self.tenant_id = env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"], None
        self.log_group_name, self.log_stream_name = env["AWS_LAMBDA_LOG_GROUP_NAME"], env["AWS_LAMBDA_LOG_STREAM_NAME"]
        self.identity = SimpleNamespace(cognito_identity_id=None, cognito_identity_pool_id=None)
        given = json.loads(headers.get("Lambda-Runtime-Client-Context") or "null")
        self.client_context = given and SimpleNamespace(
            custom=given.get("custom"), env=given.get("env"), client=SimpleNamespace(**given.get("client") or {}))
        deadline = int(headers["Lambda-Runtime-Deadline-Ms"])
        self.get_remaining_time_in_millis = lambda: max(deadline - int(time.time() * 1000), 0)


def load(name):
    module, dot, function = name.rpartition(".")
    if not dot:
        raise Fault("Runtime.MalformedHandlerName", BAD_NAME % name)
    try:
        if module.split(".")[0] in sys.builtin_module_names:
            raise Fault("Runtime.BuiltInModuleConflict", "Cannot use built-in module %s as a handler module" % module)
        found = importlib.import_module(module.replace("/", "."))
    except ImportError as e:
        raise Fault("Runtime.ImportModuleError", "Unable to import module '%s': %s" % (module, e))
    except SyntaxError as e:
        trace = ['  File "%s" Line %s\n    %s' % (e.filename, e.lineno, e.text)]
        raise Fault("Runtime.UserCodeSyntaxError", "Syntax error in module '%s': %s" % (module, e), trace)
    if not hasattr(found, function):
        raise Fault("Runtime.HandlerNotFound", "Handler '%s' missing on module '%s'" % (function, module))
    return getattr(found, function)


def failure(e):
    frames = traceback.extract_tb(e.__traceback__)
    while frames and frames[0].filename == "<string>":  # this file
        del frames[0]
    kind, trace = (e.kind, e.trace) if isinstance(e, Fault) else (type(e).__name__, traceback.format_list(frames))
    print("[ERROR] %s: %s\nTraceback (most recent call last):\n%s" % (kind, e, "".join(trace)))
    return json.dumps({"errorMessage": str(e), "errorType": kind, "requestId": now.id, "stackTrace": trace}), kind


def plain(value):
    if isinstance(value, decimal.Decimal):
        return int(value) if value % 1 == 0 else float(value)
    raise TypeError("Object of type %s is not JSON serializable" % type(value).__name__)


def answer(handler, body, headers):
    try:
        event = json.loads(body)
    except ValueError as e:
        raise Fault("Runtime.UnmarshalError", "Unable to unmarshal input: %s" % e)
    result = handler(event, Context(headers))
    try:
        return json.dumps(result, default=plain)
    except Exception as e:
        raise Fault("Runtime.MarshalError", "Unable to marshal response: %s" % e)


LINE = "[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t%(aws_request_id)s\t%(message)s"
logs = logging.StreamHandler(sys.stdout)
logs.addFilter(lambda record: setattr(record, "aws_request_id", now.id) or True)
logs.setFormatter(logging.Formatter(LINE, "%Y-%m-%dT%H:%M:%S"))
logs.formatter.converter = time.gmtime
logging.getLogger().addHandler(logs)
sys.path[:] = [env["LAMBDA_TASK_ROOT"]] + [p for p in sys.path if p]
try:
    handler = load(env["_HANDLER"])
except Exception as e:
    request("POST", "init/error", *failure(e))
    sys.exit(1)
while True:
    headers, body = request("GET", "invocation/next")
    now.id, env["_X_AMZN_TRACE_ID"] = headers["Lambda-Runtime-Aws-Request-Id"], headers["Lambda-Runtime-Trace-Id"]
    try:
        request("POST", "invocation/%s/response" % now.id, answer(handler, body, headers))
    except Exception as e:
        request("POST", "invocation/%s/error" % now.id, *failure(e))
