// Package tasks finds the tasks that the resources of a definition name. A [Registry] is the engine.Tasks of a flow
// that is written in a language.
//
//	r := &tasks.Registry{Dir: filepath.Dir(file)}
//	r.Add("local:price", atom.Func(…).Body())
//	r.Map("arn:aws:lambda:us-east-1:123456789012:function:Pay", "exec:./pay.sh")
//	e, err := engine.New(machine.Flow(), store, engine.WithTasks(r))
//
// The registry looks up a name in three steps. First it looks among the bodies that were added. Then it replaces the
// name with the one to which it is mapped. Then the scheme decides: exec: runs a program, http: and https: call a
// server, worker: leaves the work to workers. If the name of an AWS service says how to wait, such as
// .waitForTaskToken, the registry also finds the service without that ending. With [Mocks], the answers of chosen
// states come from a file.
//
// # Programs
//
// A resource such as exec:./book.sh flight names a program and its arguments, split at blanks. Quotes ('…' or "…") keep
// blanks together, and there is no shell. A program with a slash in its name is looked up from [Registry.Dir], others
// along PATH. The program runs in the folder that Ebb was started in. It reads its input as JSON, and writes its result
// as JSON to standard output, with nothing else there. An empty output is null. Standard error is free for people.
//
// The environment describes the call:
//
//	EBB_KEY          idempotency key, the same for every attempt and in the revert
//	EBB_RUN          id of the run
//	EBB_PATH         path of the atom in the run
//	EBB_INCARNATION  how often a retry around it has begun it anew, from 0
//	EBB_ATTEMPT      which try of this incarnation it is, from 1
//	EBB_REVERT       1 when the call undoes, else 0
//	EBB_OUTCOME      in a revert: done, failed or unknown, what became of what is undone
//
// A program fails with an exit status other than 0. If its output is then an object {"Error": …, "Cause": …}, these are
// the failure. Otherwise the code is Exec.Exit<N>, or Exec.Signal<NAME> if a signal ended the program, and the message
// is the end of its standard error. If the program does not exist, the code is Exec.NotFound. Output that is not JSON
// is Runtime.MarshalError, the name that AWS Lambda uses. Output above atom.MaxValue is Ebb.ValueTooLarge. A language
// may have a lower limit.
//
// A program is the head of its own process group. When its call is canceled, the group gets SIGTERM, and SIGKILL after
// [Registry.Grace]. What is left of the group when the program has ended is killed, too. Call [Supervise] in main, so
// that all of this also holds for processes that have left the group, and for the death of this process. Otherwise only
// the program itself is killed when this process dies, and only on Linux. Processes that it started then live on, and
// the next attempt may meet them, so programs should heed EBB_KEY.
//
// If a program of an earlier attempt is still running, the call does not start its own. It fails with
// Exec.StillRunning.
//
// # Servers
//
// A resource http://… or https://… receives the input by POST as JSON, with the header Idempotency-Key. A 2xx answer is
// the result and must be JSON or empty. Any other answer is the failure Http.StatusCode.<N>, with the beginning of the
// body as its message. If there is no answer, the failure is Http.Socket.
//
// If the run has a traceparent, a server receives it in the header of that name, and a program in TRACEPARENT.
//
// # Workers
//
// A resource worker:KIND is work of that kind for a worker that asks for it, in any process and language. See package
// [github.com/ebbflow/ebb/server/workers].
//
// # Services of AWS
//
// The registry finds a Lambda function by its ARN, by its ARN without a version, or by its bare name, among those that
// are added or mapped, and then at [Registry.Lambda].
// arn:aws:states:::lambda:invoke calls the function that its input names with the Payload, and wraps the result as the
// service does. arn:aws:states:::http:invoke is an HTTP task: its input names the endpoint and the request. Ebb ignores
// the connection. Map other services to tasks of your own.
package tasks
