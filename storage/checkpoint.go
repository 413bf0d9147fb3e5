package storage

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// A Snapshot is all that is needed to go on with a run.
type Snapshot struct {
	Run      Run
	Atoms    []Atom // the live ones, ordered by path
	Messages []Message
	Tokens   []Token    // the open ones
	Timers   []TimerRow // nearest first
}

// A Checkpoint is what one step changes. It becomes durable as a whole.
type Checkpoint struct {
	Head Head
	// Input replaces the run's; nil leaves it. Like other values it refers to a
	// payload when it is large.
	Input *Held
	// Structure replaces the run's; "" leaves it.
	Structure string
	Labels    map[string]string // to set; one whose value is "" is taken away
	Atoms     []Atom            // replace those of the same path
	Forget    []string          // paths of atoms to delete
	Payloads  []Payload
	History   []Entry    // continue the run's numbers without a gap
	Untold    int64      // how many of the language's events have numbers and are not kept; then History has none
	Push      []Undo     // onto the undo stack; continue its numbers
	Pop       int        // so many from the undo stack, before Push
	Timers    []TimerRow // replace those of the same path and kind; a zero Due deletes
	Tokens    []Token    // new ones, and ends of open ones; one that ended before stays as it is
	Taken     []int64    // messages that were acted on, to delete
	Outbox    []Outgoing
	Children  []Run     // runs to create, unowned and due at once; ErrExists when an id is taken
	Messages  []Message // to other runs; those to runs that are not there are dropped
	Job       *JobEnd   // the job that asked for this run, ended in the same commit
}

// Head is the part of the run's row that owner writes change. Each field
// replaces what is there, except that a nil Memory leaves it.
type Head struct {
	Seq     int64 // of the commit before this one; the guard
	State   states.Flow
	Outcome Outcome // may be set before the state is an end
	Undo    Undone
	Hold    bool
	Output  Held
	Failure *atom.Failure
	Memory  atom.Value // nil leaves it
	Absolve bool       // Lost and Suspicion of the run are forgotten
	Started time.Time
	Ended   time.Time
	Entries int64     // after this commit
	Events  int64     // after this commit
	Refs    int64     // after this commit
	Growth            // after this commit
	Release bool      // release the run in this commit
	Due     time.Time // with Release, and in a Step: when it wants to be taken up
	Wakeups int64     // with Release: the wakeup counter as last read; if it has risen since, the run is due at once
	Time    time.Time // of this commit
}

// A Payload is a value too large to be copied. Payloads are never changed.
type Payload struct {
	Ref  int64 // within the run, from 1
	Data atom.Value
}

// JobEnd ends the claim of a job, or changes the state of an unclaimed job. ErrFenced is returned when the claim is no longer the job's, and within
// a checkpoint fails all of it.
//
// Without a claim, a job can be changed that is not claimed, and its attempts are
// counted anew; within a checkpoint, only the one that is its run's: the run's fence is what guards it, and a job that
// has ended already stays as it is.
type JobEnd struct {
	Job      string
	Epoch    int64
	ClaimID  string     // "" is no claim
	State    states.Job // JobComplete, JobUnclaimed, JobScheduled or JobParked
	NotUntil time.Time
	Failure  *atom.Failure
}

// Check returns ErrInvalid, saying what is wrong, when the checkpoint
// contradicts itself.
func (cp *Checkpoint) Check() error {
	for _, check := range [...]func() error{cp.checkPayloads, cp.checkHistory, cp.checkAtoms, cp.checkUndo, cp.checkOthers} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) checkPayloads() error {
	for i := range cp.Payloads {
		if want := cp.Head.Refs - int64(len(cp.Payloads)-i) + 1; cp.Payloads[i].Ref != want {
			return cp.invalid("payload %d stands where %d should", cp.Payloads[i].Ref, want)
		}
	}
	if cp.Input != nil {
		if err := cp.checkRef("the input", *cp.Input); err != nil {
			return err
		}
	}
	return cp.checkRef("the output", cp.Head.Output)
}

// checkRef refuses a value that refers to a payload which is not there.
func (cp *Checkpoint) checkRef(of string, h Held) error {
	if h.Ref < 0 || h.Ref > cp.Head.Refs {
		return cp.invalid("%s refers to payload %d, but there are %d", of, h.Ref, cp.Head.Refs)
	}
	return nil
}

func (cp *Checkpoint) checkHistory() error {
	seq, number := cp.Head.Entries-int64(len(cp.History)), cp.Head.Events-cp.Events()
	for i := range cp.History {
		e := &cp.History[i]
		if seq++; e.Seq != seq {
			return cp.invalid("history entry %d stands where %d should", e.Seq, seq)
		}
		if e.Kind == EntryEvent {
			if number++; e.Number != number {
				return cp.invalid("event %d stands where %d should", e.Number, number)
			}
		}
		if err := cp.checkRef("a history entry", e.Body); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) checkAtoms() error {
	for i := range cp.Atoms {
		a := &cp.Atoms[i]
		for _, held := range [...]Held{a.Input, a.Note, a.Result, a.RevertResult, {Ref: a.Overflow}} {
			if err := cp.checkRef(a.Path, held); err != nil {
				return err
			}
		}
	}
	return nil
}

func (cp *Checkpoint) checkUndo() error {
	if cp.Pop < 0 {
		return cp.invalid("%d entries of the undo stack are to be popped", cp.Pop)
	}
	for i := range cp.Push {
		if want := cp.Push[0].N + int64(i); cp.Push[i].N != want {
			return cp.invalid("undo %d stands where %d should", cp.Push[i].N, want)
		}
	}
	return nil
}

func (cp *Checkpoint) checkOthers() error {
	if err := checkLabels(cp.Labels); err != nil {
		return err
	}
	for i := range cp.Children {
		if err := cp.Children[i].Check(); err != nil {
			return err
		}
	}
	for i := range cp.Messages {
		if err := cp.Messages[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) invalid(format string, args ...any) error {
	return fmt.Errorf("%w: checkpoint %d: %s", ErrInvalid, cp.Head.Seq+1, fmt.Sprintf(format, args...))
}

// Events returns how many lines of the language's history are in the checkpoint.
func (cp *Checkpoint) Events() int64 {
	n := cp.Untold
	for i := range cp.History {
		if cp.History[i].Kind == EntryEvent {
			n++
		}
	}
	return n
}
