// Package workers lets processes of any kind and language do the work of runs, over
// HTTP with JSON: they ask for a task, say now and then that they are still at it,
// and say how it ended.
//
//	mux.Handle("/tasks/", workers.Handler(ctx, store))
//
//	POST /tasks/poll            {"kinds": ["charge"], "worker": "w1", "wait_seconds": 30, "lease_seconds": 30}
//	                            200 a [worker.Task], or 204 when there was none so long
//	POST /tasks/ID/heartbeat    {"lease_seconds": 30}            200 {"lease_seconds": 30}
//	POST /tasks/ID/complete     {"result": …}                    200 {}
//	POST /tasks/ID/fail         {"code": "NoMoney", "message": "…", "details": …, "retryable": false}   200 {}
//
// What is wrong is said as {"error": "…", "message": "…"}:
//
//	400 invalid     the request is not as above; the message says what is wrong
//	404 not_found   there is no such task
//	409 lost        the lease ran out, and another worker was given the task
//	409 cancelled   no run waits for the task any more
//	409 ended       the task has ended, such as by its time limit
//	405, 413, 415   another method, a body above [server.MaxBody], a body that is not JSON
//	503 busy        too many workers wait for work already; ask again
//	503 stopping    the server is to stop: ask another one, or again when it is back
//	503 store       the store did not answer; ask again
//
// After a 409 a worker must stop: Ebb does not record its work, and no later request
// of the worker changes the run. If an answer was lost, send the request again: a
// worker that has completed or failed a task gets the same answer twice.
//
// # Leases
//
// A task is a worker's until its lease runs out; each heartbeat gives another one.
// Then the task, which is the same attempt under the same idempotency key, is given
// to the next worker that asks. It is late to renew a lease, or to end the task,
// only when that has happened. Ten workers that are lost one after the other fail
// the attempt with Ebb.Lost. Limits of the flow itself hold beside that, and fail the
// attempt: how long it waits for a worker (Ebb.ScheduleToStart), how long the worker
// takes (Ebb.StartToClose), both together (Timeout), and how long nothing is heard of
// it (Ebb.HeartbeatLost). The deadline of a task is the first of them but the last.
//
// All of this is in the store, so any number of processes may serve the workers of
// one database, and any of them may be asked.
package workers
