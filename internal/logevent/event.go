package logevent

// Events of runs.
const (
	// RunStarted: a process started a run.
	RunStarted = "run.started"
	// RunResumed: a process resumes a run, for example when its wait is over.
	RunResumed = "run.resumed"
	// RunEnded: a run ended. Warn unless it succeeded. With `needs_person=true`, its undo failed and an operator must
	// decide.
	RunEnded = "run.ended"
	// RunSuspended: a run is suspended. Warn if a failure is the reason.
	RunSuspended = "run.suspended"
	// RunStopped: this process stopped driving a run before it came to rest. Error unless the process is
	// stopping, or another owner drives the run.
	RunStopped = "run.stopped"
	// RunWaiting: a run waits for a token or a message.
	RunWaiting = "run.waiting"
	// RunQueued: a run waits for its place under a limit.
	RunQueued = "run.queued"
	// RunSetAside: a run is suspended because it kills processes or uses too much memory.
	RunSetAside = "run.set_aside"
	// RunNeedsPerson: the language of an open run says that a person must decide.
	RunNeedsPerson = "run.needs_person"
	// RunIsolated: a run is driven alone or with few others, to find out whether it kills its process.
	RunIsolated = "run.isolated"
	// RunIsolationEnded: an isolated start ended without a result.
	RunIsolationEnded = "run.isolation_ended"
	// RunFlowChanged: a run continues with a changed flow, as `AcceptChange` allows.
	RunFlowChanged = "run.flow_changed"
	// ObserverFailed: an observer panicked, or ended its goroutine; it misses the event.
	ObserverFailed = "run.observer_failed"
	// RunPanicked: the engine panicked; the run stops at its last commit.
	RunPanicked = "run.panicked"
	// RunCreateFailed: a job's run cannot be created.
	RunCreateFailed = "run.create_failed"
	// RunDriveFailed: a run cannot be driven by this process.
	RunDriveFailed = "run.drive_failed"
	// RunReleaseDelayed: the store did not answer; the run is released later.
	RunReleaseDelayed = "run.release_delayed"
	// RunChildStopped: a child run did not succeed or stopped.
	RunChildStopped = "run.child_stopped"
	// LinesLeftOut: the run of a growing flow, such as an `Each`, and its child runs have logged 10 lines of `event` at
	// this level; `count` more lines are at debug.
	LinesLeftOut = "lines.left_out"
	// Takeover: a process died, and others take over its runs.
	Takeover = "takeover"
)

// Events of atoms, and of the answers of languages.
const (
	// AtomStarted: an attempt started. Of a timer, `due` is when it ends.
	AtomStarted = "atom.started"
	// AtomSucceeded: an atom succeeded.
	AtomSucceeded = "atom.succeeded"
	// AtomFailed: an attempt failed.
	AtomFailed = "atom.failed"
	// AtomRetrying: an attempt failed; the next is at `due`.
	AtomRetrying = "atom.retrying"
	// AtomReverting: the revert of an atom started.
	AtomReverting = "atom.reverting"
	// AtomReverted: an atom is reverted.
	AtomReverted = "atom.reverted"
	// AtomStaysDone: the undo passed an atom that nothing reverts; `state` is STAYS_DONE or MAY_STAY_DONE.
	AtomStaysDone = "atom.stays_done"
	// AtomRevertFailed: a revert failed; an operator must decide.
	AtomRevertFailed = "atom.revert_failed"
	// AtomRevertRetrying: an attempt of a revert failed; the next is at `due`.
	AtomRevertRetrying = "atom.revert_retrying"
	// AtomChanged: any other change of state.
	AtomChanged = "atom.changed"
	// AtomProgress: an atom reported its progress.
	AtomProgress = "atom.progress"
	// AtomAbandoned: an atom ignored the end of its context for longer than the grace; Ebb no longer waits for it.
	AtomAbandoned = "atom.abandoned"
	// AtomEndedLate: an abandoned atom ended; Ebb ignores its result.
	AtomEndedLate = "atom.ended_late"
	// AnswerAbandoned: code of a language or a decider ignored a request to stop.
	AnswerAbandoned = "answer.abandoned"
	// AnswerEndedLate: that code ended; Ebb ignores its result.
	AnswerEndedLate = "answer.ended_late"
	// ProgramWaiting: a program waits for a program of an earlier attempt to end.
	ProgramWaiting = "program.waiting"
	// ProgramStuck: processes that a program started cannot be ended.
	ProgramStuck = "program.stuck"
	// FunctionNotCalled: a Lambda function that a client called asynchronously could not be called.
	FunctionNotCalled = "function.not_called"
)

// Events of commands, definitions, messages, jobs and schedules.
const (
	// CommandReceived: a run received a command of an operator.
	CommandReceived = "command.received"
	// CommandRefused: the run does not allow the command.
	CommandRefused = "command.refused"
	// FlowWarning: a warning about a definition.
	FlowWarning = "flow.warning"
	// MessageSendFailed: a message was not sent; Ebb tries again.
	MessageSendFailed = "message.send_failed"
	// MessageParked: a message failed too often; `ebb retry --messages` sends it again.
	MessageParked = "message.parked"
	// MessageRecordFailed: a message was sent, but not recorded; Ebb sends it again.
	MessageRecordFailed = "message.record_failed"
	// OutboxFailed: the outbox cannot be read or written.
	OutboxFailed = "outbox.failed"
	// InboxFailed: the store does not say which runs have new messages; Ebb tries again until it does, and logs this once.
	InboxFailed = "inbox.failed"
	// JobStarted: a conductor claimed a job and prepares its run.
	JobStarted = "job.started"
	// JobReturned: this process does not know the job's flow; others may claim it.
	JobReturned = "job.returned"
	// JobParked: a job's run cannot start; an operator must decide.
	JobParked = "job.parked"
	// SchedulePosted: a schedule posted a job.
	SchedulePosted = "schedule.posted"
	// ScheduleFailed: schedules cannot be read or posted.
	ScheduleFailed = "schedule.failed"
)

// Events of processes, databases and servers.
const (
	// ConductorStarted: a conductor serves, with these flows of a Go program.
	ConductorStarted = "conductor.started"
	// ConductorStopped: a conductor stopped.
	ConductorStopped = "conductor.stopped"
	// ConductorPaused: a conductor serves nothing until the database answers.
	ConductorPaused = "conductor.paused"
	// StoreUnavailable: the database cannot be reached, or takes no writes; logged once for each fault. Until its end,
	// errors that have this cause are logged at debug.
	StoreUnavailable = "store.unavailable"
	// StoreAvailable: the fault is over.
	StoreAvailable = "store.available"
	// RowDamaged: a row cannot be read, and is left out; logged once for each row.
	RowDamaged = "row.damaged"
	// CheckpointRetrying: the store did not take a commit; Ebb tries again.
	CheckpointRetrying = "checkpoint.retrying"
	// WriteBlocked: another process blocks writes; logged even with `--log-level off`.
	WriteBlocked = "write.blocked"
	// ClockSet: the clock of the database server was set.
	ClockSet = "clock.set"
	// MemoryExhausted: the memory budget is reached; the process takes up no work.
	MemoryExhausted = "memory.exhausted"
	// MemoryRecovered: the process takes up work again.
	MemoryRecovered = "memory.recovered"
	// PruneDone: `ebb serve --keep` deleted ended runs and jobs.
	PruneDone = "prune.done"
	// PruneFailed: it could not delete them.
	PruneFailed = "prune.failed"
	// ServerNotReady: `/readyz` answers 503.
	ServerNotReady = "server.not_ready"
	// WaitsSkipped: `--skip-waits` is on: waits and pauses before retries take no time.
	WaitsSkipped = "waits.skipped"
	// DefinitionOlder: a given definition was stored before the one that its state machine has, and does not replace it.
	DefinitionOlder = "definition.older"
	// DefinitionsReloaded: a given file has changed, and its definitions were loaded again.
	DefinitionsReloaded = "definitions.reloaded"
	// DefinitionsReloadFailed: a given file has changed, and has a mistake; the old definitions stay.
	DefinitionsReloadFailed = "definitions.reload_failed"
	// EmulatorOpen: `ebb emulate` serves everyone who can reach it, with any credentials.
	EmulatorOpen = "emulator.open"
	// LogGroupFailed: lines of a log group of CloudWatch Logs could not be written; the server tries again.
	LogGroupFailed = "log_group.failed"
	// KeysReloadFailed: the file of keys has a mistake; the old keys stay.
	KeysReloadFailed = "keys.reload_failed"
	// KeysUnlimited: keys without a purpose, which open all paths.
	KeysUnlimited = "keys.unlimited"
	// RequestPanicked: a handler of a request panicked.
	RequestPanicked = "request.panicked"
	// RequestFailed: an AWS operation failed within the server, which answered InternalFailure.
	RequestFailed = "request.failed"
	// LoginRefused: package oidc does not let a person in.
	LoginRefused = "login.refused"
	// LoginFailed: a login with package oidc failed, for example because the provider does not answer.
	LoginFailed = "login.failed"
	// PageFailed: a page of the console cannot be shown.
	PageFailed = "page.failed"
	// HTTPError: a client or server violated HTTP.
	HTTPError = "http.error"
	// Notice: with `--log-format json`: what a command prints to standard error.
	Notice = "notice"
	// CommandFailed: with `--log-format json`: why a command failed.
	CommandFailed = "command.failed"
)
