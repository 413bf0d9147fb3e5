// Runs a handler for the invocations of AWS Lambda's Runtime API, as AWS's runtime of Node.js does.
const fs = require('fs'), http = require('http'), path = require('path'), util = require('util')
const { pathToFileURL } = require('url'), { createRequire } = require('module')
const env = process.env, root = env.LAMBDA_TASK_ROOT, [host, port] = env.AWS_LAMBDA_RUNTIME_API.split(':')
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
let id, whenIdle // of the invocation; what to do when the handler has nothing left to wait for

function request(method, to, body, type = '') {
  return new Promise((resolve, reject) => {
    const headers = { 'Lambda-Runtime-Function-Error-Type': type, 'Content-Length': Buffer.byteLength(body || '') }
    http.request({ host, port, agent, method, headers, path: '/2018-06-01/runtime/' + to }, (answer) => {
      const parts = []
      answer.on('data', (part) => parts.push(part)).on('error', reject)
      answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts).toString() }))
    }).on('error', reject).end(body)
  })
}

function print(level, parts) {
  process.stdout.write(`${new Date().toISOString()}\t${id}\t${level}\t${util.format(...parts)}\n`)
}
for (const name of ['debug', 'info', 'warn', 'error']) console[name] = (...parts) => print(name.toUpperCase(), parts)
console.log = console.info

// fault returns an error with a code of AWS, for a reason.
function fault(name, reason) {
  const e = new Error(String(reason)), frames = (reason?.stack ?? '').split('\n').filter((line) => /^ +at /.test(line))
  return Object.assign(e, { name, stack: [`${name}: ${reason}`, ...frames].join('\n') })
}

function report(to, e, label) {
  let error = { errorType: typeof e, errorMessage: String(e), trace: [] }
  if (util.types.isNativeError(e) || e instanceof Error) {
    const trace = String(e.stack).split('\n').filter((line) => !/^ +at .*\(?(\[eval\]|node:)/.test(line))
    error = { errorType: e.name || 'Error', errorMessage: e.message, trace }
  }
  print('ERROR', [label, JSON.stringify({ ...error, trace: undefined, stack: error.trace })])
  return request('POST', to, JSON.stringify(error), error.errorType)
}

async function load(name) {
  const base = path.basename(name), dot = base.indexOf('.')
  if (name.includes('..')) throw fault('Runtime.MalformedHandlerName', `'${name}' is not a valid handler name. ` +
    'Use absolute paths when specifying root directories in handler names.')
  if (dot < 0) throw fault('Runtime.MalformedHandlerName', 'Bad handler')
  const file = path.resolve(root, path.dirname(name), base.slice(0, dot))
  const end = ['', '.js', '.mjs', '.cjs'].find((end) => fs.statSync(file + end, { throwIfNoEntry: false })?.isFile())
  const named = (value) => base.slice(dot + 1).split('.').reduce((value, key) => value?.[key], value)
  const found = await (end === undefined ? async () => createRequire(root + '/loader')(file)
    : async () => import(pathToFileURL(file + end)))().catch((e) => {
    if (e instanceof SyntaxError) throw fault('Runtime.UserCodeSyntaxError', e)
    throw /^(ERR_)?MODULE_NOT_FOUND$/.test(e?.code) ? fault('Runtime.ImportModuleError', e) : e
  })
  const handler = named(found) ?? named(found.default)
  if (!handler) throw fault('Runtime.HandlerNotFound', `${name} is undefined or not exported`)
  if (typeof handler !== 'function') throw fault('Runtime.HandlerNotFound', `${name} is not a function`)
  return handler
}

// call calls the handler. The result is that of its promise, or of its callback, or null if it waits for nothing more.
function call(handler, event, headers) {
  return new Promise((resolve, reject) => {
    const done = (e, result) => {
      whenIdle = () => (e == null ? resolve(result) : reject(e))
      if (e != null || !context.callbackWaitsForEmptyEventLoop) whenIdle()
    }
    const context = {
      callbackWaitsForEmptyEventLoop: true, awsRequestId: id, functionName: env.AWS_LAMBDA_FUNCTION_NAME,
      functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION, memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
      invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'], logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
      logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME, identity: undefined,
      clientContext: JSON.parse(headers['lambda-runtime-client-context'] ?? 'null') ?? undefined,
      getRemainingTimeInMillis: () => Number(headers['lambda-runtime-deadline-ms']) - Date.now(),
      done, succeed: (result) => done(null, result), fail: (e) => done(e ?? 'handled'),
    }
    whenIdle = () => resolve(null)
    const result = handler(event, context, done) // if it throws, the promise is rejected
    if (typeof result?.then === 'function') result.then(resolve, reject)
  })
}

async function main() {
  const die = (to, e, status) => report(to, e, 'Uncaught Exception').finally(() => process.exit(status))
  const handler = await load(env._HANDLER).catch((e) => die('init/error', e, 1))
  process.on('uncaughtException', (e) => die(`invocation/${id}/error`, e, 129)) // ids of old invocations are refused
  process.on('unhandledRejection', (e) =>
    die(`invocation/${id}/error`, fault('Runtime.UnhandledPromiseRejection', e), 128))
  process.on('beforeExit', () => whenIdle?.())
  for (;;) {
    const { headers, body } = await request('GET', 'invocation/next')
    id = headers['lambda-runtime-aws-request-id']
    env._X_AMZN_TRACE_ID = headers['lambda-runtime-trace-id']
    await call(handler, JSON.parse(body), headers)
      .then((result) => request('POST', `invocation/${id}/response`, JSON.stringify(result) ?? 'null'))
      .catch((e) => report(`invocation/${id}/error`, e, 'Invoke Error'))
    whenIdle = undefined
  }
}
main()
