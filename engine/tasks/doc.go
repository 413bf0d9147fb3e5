// Package tasks finds what a definition's resources stand for: a [Registry] is
// the engine.Tasks of a flow written in a language.
//
//	r := &tasks.Registry{Dir: filepath.Dir(file)}
//	r.Add("local:price", atom.Func(…).Body())
//	r.Map("arn:aws:lambda:us-east-1:123456789012:function:Pay", "exec:./pay.sh")
//	e, err := engine.New(machine.Flow(), engine.WithTasks(r))
//
// A name is looked up as it stands among what was added; then it is replaced by
// what it is mapped to; then its scheme decides: exec: runs a program, http: and
// https: ask a server, worker: leaves it to workers. A service of AWS that waits, such as one that ends in
// .waitForTaskToken, is also found by its name without that. With [Mocks] the answers of chosen states are read from a
// file instead.
//
// # Programs
//
// A resource such as exec:./book.sh flight names a program and its arguments,
// split at blanks; quotes ('…' or "…") keep blanks together, and there is no
// shell. A program with a slash in its name is looked for from [Registry.Dir],
// others along PATH. It runs in the folder that Ebb was started in, reads its
// input as JSON and writes its result as JSON: to standard output, with nothing
// else there; an empty output is null. Standard error is free for people.
//
// The environment tells which call it is:
//
//	EBB_KEY          idempotency key, the same for every attempt and in the revert
//	EBB_RUN          id of the run
//	EBB_PATH         path of the atom in the run
//	EBB_INCARNATION  how often a retry around it has begun it anew, from 0
//	EBB_ATTEMPT      which try of this incarnation it is, from 1
//	EBB_REVERT       1 when the call undoes, else 0
//	EBB_OUTCOME      in a revert: done, failed or unknown, what became of what is undone
//
// A program fails with an exit status other than 0. When its output is then an
// object {"Error": …, "Cause": …} those are the failure; otherwise the code is
// Exec.Exit<N>, or Exec.Signal<NAME> when a signal ended it, and the message is
// the end of its standard error. A program that is not there is Exec.NotFound.
// Output that is no JSON is Runtime.MarshalError, the name under which AWS Lambda
// reports it. Output above atom.MaxValue is Ebb.ValueTooLarge; what is below is
// passed on, and a language may have a lower limit.
//
// A program is the head of a process group of its own. When its call is
// canceled the group gets SIGTERM, and SIGKILL after [Registry.Grace]. What is
// left of the group when the program has ended is killed, too. Call [Supervise]
// in main, so that all of this also holds for processes that have left the group,
// and for the death of this process. Otherwise only the program itself is killed
// when this process dies, and that on Linux alone. What it started then lives on, and the
// next attempt may meet it, so programs should heed EBB_KEY.
//
// A call whose program did not start because one of an earlier attempt still ran is
// the failure Exec.StillRunning.
//
// # Servers
//
// A resource http://… or https://… gets the input by POST as JSON, with the
// header Idempotency-Key. A 2xx answer is the result and must be JSON or empty.
// Any other is the failure Http.StatusCode.<N> with the begin of the body as its
// message; what breaks before an answer is there is Http.Socket.
//
// A server is told the traceparent of the run, if it has one, in the header of that
// name, and a program in the variable TRACEPARENT.
//
// # Workers
//
// A resource worker:KIND is work of that kind for a worker that asks for it, in any
// process and language: see package [github.com/ebbflow/ebb/server/workers].
//
// # Services of AWS
//
// A Lambda function is found by its ARN, by that without a version, or by its bare
// name, under which it was added or is mapped. arn:aws:states:::lambda:invoke calls
// the function that its input names, with the Payload, and wraps the result as the
// service does. arn:aws:states:::http:invoke is an HTTP task: its input names the
// endpoint and the request; the connection is ignored. Any other service is what the
// user maps it to.
package tasks
