package logevent

// Events of runs.
const (
	RunStarted        = "run.started"
	RunResumed        = "run.resumed"
	RunEnded          = "run.ended"
	RunSuspended      = "run.suspended"
	RunStopped        = "run.stopped"
	RunWaiting        = "run.waiting"
	RunQueued         = "run.queued"
	RunSetAside       = "run.set_aside"
	RunOnTrial        = "run.on_trial"
	RunTrialEnded     = "run.trial_ended"
	RunFlowChanged    = "run.flow_changed"
	RunPanicked       = "run.panicked"
	RunCreateFailed   = "run.create_failed"
	RunDriveFailed    = "run.drive_failed"
	RunReleaseDelayed = "run.release_delayed"
	RunChildStopped   = "run.child_stopped"
	Takeover          = "takeover"
)

// Events of atoms, and of the answers of languages.
const (
	AtomStarted        = "atom.started"
	AtomSucceeded      = "atom.succeeded"
	AtomFailed         = "atom.failed"
	AtomRetrying       = "atom.retrying"
	AtomReverting      = "atom.reverting"
	AtomReverted       = "atom.reverted"
	AtomStaysDone      = "atom.stays_done"
	AtomRevertFailed   = "atom.revert_failed"
	AtomRevertRetrying = "atom.revert_retrying"
	AtomChanged        = "atom.changed"
	AtomProgress       = "atom.progress"
	AtomAbandoned      = "atom.abandoned"
	AtomEndedLate      = "atom.ended_late"
	AnswerAbandoned    = "answer.abandoned"
	AnswerEndedLate    = "answer.ended_late"
	ProgramWaiting     = "program.waiting"
	ProgramStuck       = "program.stuck"
)

// Events of commands, definitions, messages, jobs and schedules.
const (
	CommandReceived     = "command.received"
	CommandRefused      = "command.refused"
	FlowWarning         = "flow.warning"
	MessageSendFailed   = "message.send_failed"
	MessageParked       = "message.parked"
	MessageRecordFailed = "message.record_failed"
	OutboxFailed        = "outbox.failed"
	InboxFailed         = "inbox.failed"
	JobStarted          = "job.started"
	JobReturned         = "job.returned"
	JobParked           = "job.parked"
	SchedulePosted      = "schedule.posted"
	ScheduleFailed      = "schedule.failed"
)

// Events of processes, databases and servers.
const (
	ConductorStarted   = "conductor.started"
	ConductorStopped   = "conductor.stopped"
	StoreUnavailable   = "store.unavailable"
	CheckpointRetrying = "checkpoint.retrying"
	WriteBlocked       = "write.blocked"
	ClockSet           = "clock.set"
	MemoryExhausted    = "memory.exhausted"
	MemoryRecovered    = "memory.recovered"
	PruneDone          = "prune.done"
	PruneFailed        = "prune.failed"
	ServerNotReady     = "server.not_ready"
	KeysReloadFailed   = "keys.reload_failed"
	KeysUnlimited      = "keys.unlimited"
	RequestPanicked    = "request.panicked"
	RequestFailed      = "request.failed"
	HTTPError          = "http.error"
	Notice             = "notice"
	CommandFailed      = "command.failed"
)
