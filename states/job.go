package states

import "github.com/looplab/fsm"

// Job is the state of a job on the board.
type Job uint8

// The states of a job. The zero value is JobUnclaimed. Numbers may be stored:
// they never change.
const (
	// JobUnclaimed may be claimed by any conductor.
	JobUnclaimed Job = iota
	// JobClaimed belongs to one conductor.
	JobClaimed
	// JobComplete has ended, or was canceled.
	JobComplete
	// JobScheduled may not be claimed before its time. Ebb's own.
	JobScheduled
	// JobParked waits, with its failure, for a person. Ebb's own.
	JobParked
)

// Ended reports whether the job is COMPLETE.
func (s Job) Ended() bool { return s == JobComplete }

var jobNames = vocabulary{"job", []string{"UNCLAIMED", "CLAIMED", "COMPLETE", "SCHEDULED", "PARKED"}}

// String returns TaskFlow's spelling, for example "UNCLAIMED".
func (s Job) String() string { return jobNames.text(uint8(s)) }

// Known reports whether the number has a state.
func (s Job) Known() bool { return int(s) < len(jobNames.names) }

// MarshalText returns the same text as String, or ErrUnknown for a number without a state.
func (s Job) MarshalText() ([]byte, error) { return jobNames.marshal(uint8(s)) }

// UnmarshalText accepts the output of MarshalText. For any other text, it returns ErrUnknown with a list of the legal
// ones, and does not change s.
func (s *Job) UnmarshalText(text []byte) error { return jobNames.unmarshal(text, (*uint8)(s)) }

func (s Job) table() *table { return jobTable }

var onJob = events[Job](&jobNames)

var jobTable = compile(jobNames,
	rules{events: fsm.Events{
		onJob("claim", JobClaimed, JobUnclaimed),
		onJob("abandon", JobUnclaimed, JobClaimed),
		onJob("consume", JobComplete, JobClaimed),
	}},
	rules{
		feature: "not-before",
		why: "a job that is posted or returned for later, or waits for a timer, may not be claimed until it is due; " +
			"a message to its run makes it due at once; a due job may be claimed without a commit in between",
		events: fsm.Events{
			onJob("postpone", JobScheduled, JobUnclaimed, JobClaimed),
			onJob("due", JobUnclaimed, JobScheduled),
			onJob("claim", JobClaimed, JobScheduled),
		},
	},
	rules{
		feature: "parked jobs",
		why: "a job without attempts left, or whose run's undo failed, waits for a person, " +
			"who may also park an unclaimed job; a released job may be claimed again",
		events: fsm.Events{
			onJob("park", JobParked, JobClaimed, JobUnclaimed, JobScheduled),
			onJob("release", JobUnclaimed, JobParked),
		},
	},
	rules{
		feature: "cancel",
		why:     "an operator may cancel the run of a job that no process has claimed; the job ends in the same commit",
		events:  fsm.Events{onJob("cancel", JobComplete, JobUnclaimed, JobScheduled, JobParked)},
	},
).ignoring()
