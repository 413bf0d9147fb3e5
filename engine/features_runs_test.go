package engine_test

// featuresOfRuns are the features of retries, engines, and the storage of runs.
var featuresOfRuns = []feature{
	{name: "Retry controller per flow", ebb: "`WithRetry` of each pattern", shownBy: "times"},
	{name: "Retry AlwaysRevert", ebb: "`atom.AlwaysRevert`", shownBy: "always_revert"},
	{name: "Retry AlwaysRevertAll", ebb: "`atom.AlwaysRevertAll`", shownBy: "always_revert_all"},
	{name: "Retry Times", ebb: "`atom.Times`; `As` names the number of the try", shownBy: "times"},
	{name: "Retry ForEach", ebb: "`atom.ForEach`; `As` names the value", shownBy: "for_each"},
	{name: "Retry ParameterizedForEach", ebb: "`atom.ForEachOf`; `As` names the value", shownBy: "for_each_of_a_symbol"},
	{
		name: "`revert_all` switch of these three",
		ebb:  "`atom.TimesThenAll`, `atom.ForEachThenAll`, `atom.ForEachOfThenAll`", shownBy: "then_revert_all",
	},
	{name: "Custom retry controllers", ebb: "`atom.Controller`", shownBy: "custom_retry"},
	{name: "Retry history of values and failures", ebb: "`atom.History`", shownBy: "history"},
	{name: "Nested retries with escalation", ebb: "the same", shownBy: "nested_retries"},
	{
		name: "`defer_reverts`", ebb: "the default; `flow.UndoFlow` turns it off",
		shownBy: "all_is_undone_unless_said_otherwise",
	},
	{name: "`never_resolve`", ebb: "`flow.LeaveFailed`", shownBy: "never_resolve"},
	{
		name: "Delay, backoff between retries", asked: true, ebb: "`atom.Constant`, `atom.Exponential`, jitter",
		shownBy: "wait_between_tries",
	},
	{
		name: "Retry of one task without a flow", asked: true, ebb: "`atom.Attempts`",
		shownBy: "attempts_of_one_task",
	},
	{name: "Task timeout", asked: true, ebb: "`atom.Timeout`, `atom.RevertTimeout`", shownBy: "timeout_of_a_task"},
	{name: "Flow deadline", asked: true, ebb: "`WithDeadline` of a flow", shownBy: "deadline_of_a_run"},
	{
		name: "Cancellation of running atoms", asked: true, ebb: "the context of Execute ends; `engine.WithGrace`",
		shownBy: "cancel, engine: TestGivenUp",
	},
	{name: "Cancel: suspend and revert in one call", asked: true, ebb: "`engine.Cancel`", shownBy: "cancel"},
	{
		name: "Partial success flow state", asked: true,
		ebb: "a run's end separates outcome and undo; `atom.Pivot`", shownBy: "undone_in_part",
	},
	{
		name:    "Revert failure policy (TaskFlow: stop)",
		ebb:     "`atom.RevertAttempts`, `atom.IfRevertFails`, `engine.RetryRevert`, `engine.Skip`",
		shownBy: "revert_that_fails",
	},
	{
		name: "Idempotency key and attempt number for tasks", asked: true,
		ebb: "`atom.IdempotencyKey`, `atom.RevertKey`, `atom.Attempt`", shownBy: "idempotency_key",
	},
	{name: "Serial engine", ebb: "`engine.WithParallelism(1)`", shownBy: "serial"},
	{name: "Parallel engine, threads", ebb: "`engine.WithParallelism`: goroutines", shownBy: "parallel"},
	{name: "Parallel engine, external executor", ebb: "a middleware that passes the call on", shownBy: "executor"},
	{
		name:    "Process pool engine (removed in TaskFlow)",
		leftOut: "an `exec:` task is its own process (`engine/tasks: TestExec`)",
	},
	{name: "Green threads (deprecated in TaskFlow)", leftOut: "goroutines are that"},
	{
		name: "Distributed workers", ebb: "`atom.Remote`, `worker:KIND`: workers in any language",
		shownBy: "engine: TestRemote, cmd/ebb: TestPythonWorker",
	},
	{
		name: "Worker liveness while a task runs", asked: true,
		ebb:     "leases and heartbeats; a worker that lost its task is refused",
		shownBy: "engine: TestRemoteLease, server/workers: TestStopped",
	},
	{
		name: "Worker topics, task routing", ebb: "a worker asks for kinds of work",
		shownBy: "server/workers: TestTask",
	},
	{name: "`run_iter` step by step", ebb: "`Engine.Steps`", shownBy: "step_by_step"},
	{name: "Many engines in one loop", ebb: "`iter.Pull2` of `Engine.Steps`", shownBy: "many_runs_in_one_loop"},
	{name: "Suspend, resume", ebb: "`Engine.Suspend`, `engine.Hold`; then `Run`", shownBy: "suspend_and_go_on"},
	{name: "Reset and run again", ebb: "`Engine.Reset`", shownBy: "reset"},
	{name: "Run again after REVERTED", ebb: "`engine.Rerun`", shownBy: "again_after_it_was_undone"},
	{
		name:    "Engine statistics",
		ebb:     "times of attempts; `listen.Durations`, `Engine.Steps`. Left out: seconds per engine state",
		shownBy: "durations, step_by_step, engine: TestAttemptTimes",
	},
	{name: "Engine lock against double run", ebb: "one owner: `*storage.OwnedError`", shownBy: "one_owner"},
	{
		name: "Flow fencing across processes", asked: true, ebb: "every write carries the fence",
		shownBy: "storage/sqlstore: TestOwnerInAnotherProcess, TestStore/RaceFence",
	},
	{
		name: "LogBook, FlowDetail, AtomDetail model", ebb: "`storage.Run`, `storage.Atom`, `storage.Entry`",
		shownBy: "records",
	},
	{name: "Memory backend", ebb: "`storage/memstore`", shownBy: "storage/memstore: TestMemory"},
	{name: "Directory backend", leftOut: "a SQLite file is one place, and atomic"},
	{
		name:    "SQL backend (SQLite, MySQL, PostgreSQL) with migrations",
		ebb:     "`storage/sqlstore`. Left out: MySQL; one shared database is enough",
		shownBy: "storage/sqlstore: TestStore, TestServerStore, TestMigrations",
	},
	{name: "ZooKeeper backend", leftOut: "a second service could disagree with the run's database"},
	{name: "Lazy loading of logbooks", ebb: "`Store.Runs` returns heads", shownBy: "search"},
	{name: "Query flows by state, time, paging", asked: true, ebb: "`storage.RunQuery`", shownBy: "search"},
	{name: "Retention, purge of finished flows", asked: true, ebb: "`Store.Purge`", shownBy: "purge"},
	{
		name: "Batched or group-commit writes", asked: true, ebb: "checkpoints by step; group commit",
		shownBy: "storage/sqlstore: TestBatch",
	},
	{
		name: "Storage retry on transient failure", ebb: "four tries; then the run stops at its last commit",
		shownBy: "store_that_fails_in_passing, engine: TestStoreErrorIsNoFailure",
	},
	{
		name:    "Failure object: type chain, traceback, causes, args",
		ebb:     "`atom.Failure`: code, message, stack, data; for `errors.As`",
		shownBy: "failure, atom: TestNewFailure",
	},
	{
		name: "Failure serialization and schema", ebb: "stored with a version, read back equal",
		shownBy: "failure, internal/codec: TestFailureRoundTrip",
	},
	{
		name: "Multiple failures raised together", ebb: "`RevertedError.Failures`, and its `Unwrap`",
		shownBy: "several_failures",
	},
	{
		name: "Resume after crash from detail", ebb: "`Run` with the same id",
		shownBy: "resume_after_a_crash, engine: TestCrashProperty",
	},
	{name: "`load_from_factory`, `load_from_detail`", ebb: "`engine.WithCatalog`; `Catalog.Factory` of a conductor makes a flow from its input", shownBy: "definition_as_data, conductor: TestFactory"},
	{
		name:    "Resume with atoms added or removed",
		ebb:     "refused, unless `engine.AcceptChange` names what to forget",
		shownBy: "changed_flow, engine: TestAcceptChange",
	},
	{
		name: "Exact retry history after a restart (TaskFlow: a defect)", ebb: "kept",
		shownBy: "history_of_a_retry_after_a_crash",
	},
}
