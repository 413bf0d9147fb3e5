// Package workers lets processes in any language do the work of runs, over HTTP with JSON. A worker asks for a
// task, sends heartbeats while it works, and reports how the task ended.
//
//	mux.Handle("/tasks/", workers.Handler(ctx, store))
//
//	POST /tasks/poll            {"kinds": ["charge"], "worker": "w1", "wait_seconds": 30, "lease_seconds": 30}
//	                            200 a [worker.Task], or 204 if there was none during the wait
//	POST /tasks/ID/heartbeat    {"lease_seconds": 30}            200 {"lease_seconds": 30}
//	POST /tasks/ID/complete     {"result": …}                    200 {}
//	POST /tasks/ID/fail         {"code": "NoMoney", "message": "…", "details": …, "retryable": false}   200 {}
//
// An error is answered as {"error": "…", "message": "…"}:
//
//	400 invalid     the request is not as above; the message gives the reason
//	404 not_found   the task does not exist
//	409 lost        the lease expired, and another worker has the task
//	409 cancelled   no run waits for the task any more
//	409 ended       the task has ended, such as by its time limit
//	405, 413, 415   another method, a body above [server.MaxBody], a body that is not JSON
//	503 busy        too many workers wait for work already; ask again
//	503 stopping    the server is stopping: ask another server, or ask again later
//	503 store       the store did not answer; ask again
//
// After a 409 a worker must stop: Ebb does not record its work, and no later request of the worker changes the run.
// If an answer was lost, send the request again: a worker that has completed or failed a task gets the same answer
// twice.
//
// # Leases
//
// A task belongs to a worker until its lease expires. Each heartbeat renews the lease. After the lease has expired,
// the server gives the task to the next worker that asks. The task is then the same attempt under the same
// idempotency key. Until another worker has the task, the first worker may still renew its lease or end the task.
// If ten workers are lost one after the other, the attempt fails with Ebb.Lost.
//
// The flow's own limits apply as well, and fail the attempt: the wait for a worker (Ebb.ScheduleToStart), the work
// of the worker (Ebb.StartToClose), both together (Timeout), and the time without a heartbeat (Ebb.HeartbeatLost).
// The deadline of a task is the first of these limits, except the heartbeat limit.
//
// The store keeps all of this state. Any number of processes may serve the workers of one database, and a worker
// may ask any of them.
package workers
