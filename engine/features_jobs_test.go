package engine_test

// featuresOfJobs are the features of the job board, conductors, listeners and tools.
var featuresOfJobs = []feature{
	{
		name: "Job board: post, claim, consume, abandon, trash", ebb: "`jobs.Board`",
		shownBy: "jobs: TestMemory, TestSQLite",
	},
	{
		name: "Job priorities", ebb: "claims follow them",
		shownBy: "jobs: TestMemory, storage/memstore: TestMemory/JobOrder",
	},
	{name: "Job wait with backoff", ebb: "`Board.Await` waits for the end; `jobs.Policy.Backoff` is the pause after a failed claim", shownBy: "conductor: TestAwait, jobs: TestModel"},
	{name: "Board on ZooKeeper", leftOut: "as the backend on ZooKeeper"},
	{name: "Board on Redis", leftOut: "a job must commit together with its run"},
	{name: "Board on etcd", leftOut: "as the board on Redis"},
	{name: "Board in SQL", asked: true, ebb: "`jobs` over `storage/sqlstore`", shownBy: "jobs: TestSQLite"},
	{name: "Board in memory", asked: true, ebb: "`jobs` over `storage/memstore`", shownBy: "jobs: TestMemory"},
	{
		name: "Board notifications POSTED, REMOVAL", ebb: "commits notify serving processes",
		shownBy: "storage/sqlstore: TestStore/RaceWakeups",
	},
	{
		name: "Claim expiry and extension", ebb: "a claim is a lease; the owner of the job's run extends its own lease",
		shownBy: "jobs: TestMemory, storage/memstore: TestMemory/JobClaims",
	},
	{
		name: "Automatic claim heartbeat", asked: true, ebb: "not needed: the claimed job's run holds it",
		shownBy: "conductor: TestTakeover",
	},
	{
		name: "Entity registration", ebb: "known owners: `Store.Owners`",
		shownBy: "storage/memstore: TestMemory/Owners",
	},
	{
		name: "Job delayed start, schedule, cron", asked: true,
		ebb:     "`jobs.Job.NotBefore`; `ebb schedule`, one job per tick",
		shownBy: "conductor: TestSchedules, cmd/ebb: TestScripts/schedule",
	},
	{
		name: "Job attempt limit, dead message", asked: true,
		ebb:     "`jobs.Policy.Attempts`; then the job is PARKED with the reason",
		shownBy: "jobs: TestModel, conductor: TestJobs",
	},
	{
		name: "Job keeps failure outcome", asked: true, ebb: "a parked job has the failure",
		shownBy: "jobs: TestMemory, storage/memstore: TestMemory/JobEndInCommit",
	},
	{name: "Blocking conductor", ebb: "`Conductor.Run`, until its context ends", shownBy: "conductor: TestJobs"},
	{
		name: "Non-blocking conductor", ebb: "`Conductor.Run` in a goroutine drives many runs",
		shownBy: "conductor: TestSlots",
	},
	{
		name:    "`max_dispatches`, `max_simultaneous_jobs`",
		ebb:     "`engine.WithSlots`; across conductors `storage.Limit`",
		shownBy: "conductor: TestSlots, engine: TestLimits",
	},
	{
		name:    "Conductor graceful stop suspends flows",
		ebb:     "running atoms may end (`engine.WithDrain`); other processes continue the runs",
		shownBy: "engine: TestDrain, TestStop",
	},
	{
		name: "Conductor events", ebb: "`Conductor.Health`; observers of its engine",
		shownBy: "conductor: TestHealth, TestObserverPanics",
	},
	{
		name: "Claim-checking listener", ebb: "not needed: a commit under a lost claim is refused",
		shownBy: "storage/sqlstore: TestStore/RaceFence, engine: TestTxFenced",
	},
	{
		name:    "Logging listener, dynamic levels",
		ebb:     "`engine.WithLogger`: [named events](log-events.md), with levels for each part's name",
		shownBy: "log",
	},
	{name: "Mask sensitive inputs and outputs", ebb: "`atom.Secret`", shownBy: "secrets"},
	{name: "Printing listener", ebb: "`engine.WithLogger` to a terminal; `ebb run`", shownBy: "log"},
	{
		name: "Duration and event-time listeners", ebb: "`listen.Durations`; events carry their time",
		shownBy: "durations",
	},
	{name: "Capture listener for tests", ebb: "`listen.Capture`", shownBy: "capture"},
	{name: "Notifier with filters and wildcard", ebb: "`engine.WithObserver`", shownBy: "observer"},
	{name: "Retry notifications", ebb: "the atom events of retries", shownBy: "events_of_retries"},
	{name: "Failure formatter with predecessor tree", ebb: "`inspect.Explain`; `ebb why`", shownBy: "failure_tree"},
	{
		name: "DOT export, graph pformat", ebb: "`flow/draw`: DOT and Mermaid, of plans and runs",
		shownBy: "pictures",
	},
	{
		name: "OpenTelemetry, metrics", asked: true,
		ebb:     "`/metrics` of `ebb serve`; the run keeps a traceparent and passes it to tasks",
		shownBy: "server/metrics: TestMetrics, cmd/ebb: TestScripts/trace",
	},
	{
		name: "CLI or web view of flows", asked: true,
		ebb:     "`ebb list`, `show`, `history`, `graph`; the [console](../how-to/use-the-console.md)",
		shownBy: "cmd/ebb: TestScripts, server/console/interop: TestTrip",
	},
	{
		name: "Flow definition as data", asked: true, ebb: "ASL",
		shownBy: "definition_as_data, engine: TestConformanceASL",
	},
	{
		name: "Simulation, deterministic test harness", asked: true,
		ebb: "`enginetest.FailAt`; virtual time by `testing/synctest`", shownBy: "simulation",
	},
	{name: "Plugin loading by name", ebb: "`engine.WithTasks`: a registry", shownBy: "tasks_by_name"},
	{
		name: "Engine selection by URI", ebb: "options of `engine.New`; a store by DSN: `sqlstore.Open`",
		shownBy: "storage/sqlstore: TestDSN",
	},
}
