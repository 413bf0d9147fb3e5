package backend

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Snapshot contains everything that a process needs to resume a run.
type Snapshot struct {
	Run      storage.Run        // record of the run
	Atoms    []storage.Atom     // records with Live set, ordered by path
	Messages []storage.Message  // all messages in the inbox, oldest first
	Tokens   []storage.Token    // the run's open tokens
	Timers   []storage.TimerRow // the run's timers, nearest first
}

// A Checkpoint is everything that one step of a run changes. The store commits all of it or none of it. After a
// crash, the run resumes from its last committed checkpoint.
type Checkpoint struct {
	Head Head // the part of the run's record that every checkpoint replaces
	// Input replaces the run's input; nil leaves the input unchanged. If the new input is larger than
	// [InlineLimit], Input refers to a payload.
	Input *storage.Held
	// Structure replaces the run's structure hash; "" leaves it unchanged.
	Structure string
	Labels    map[string]string  // labels to set; "" as a value deletes the label
	Atoms     []storage.Atom     // each replaces the record with the same path, or is added
	Forget    []string           // paths of atoms whose records are deleted
	Payloads  []Payload          // new payloads, numbered without a gap up to Head.Refs
	History   []storage.Entry    // entries to append; the first has the number after the run's last entry
	Untold    int64              // events that the language counts but does not store; then History has no EntryEvent
	Push      []storage.Undo     // entries to put on top of the undo stack, numbered without a gap
	Pop       int                // number of entries to remove from the top of the undo stack, before Push is applied
	Timers    []storage.TimerRow // each replaces the timer with the same path and kind; a zero Due deletes that timer
	Tokens    []storage.Token    // new tokens, and new states of open tokens; a token that has ended does not change
	// Used are changes of open tokens that come before Tokens. If one of the tokens is not open, or was taken since,
	// Commit writes nothing and returns ErrTaken.
	Used   []TokenUse
	GiveUp []string           // ids of tokens to set [Token.GiveUp] of, if they are open; after Tokens
	Taken  []int64            // numbers of inbox messages that this step processed; the store deletes them
	Outbox []storage.Outgoing // messages to send to targets outside the database
	// Children are runs to create, due at once and without an owner. If an id exists, Commit returns ErrExists. If an
	// open run holds the key of one, Commit returns a *[storage.KeyTakenError]. A checkpoint that ends the run releases
	// its key first, so one of its children may have that key.
	Children []storage.Run
	// Messages are messages to runs, sent after Children are created. The store drops a message to a run that does not
	// exist. If it has a Receipt, the store returns it instead, see [MessageReceipt].
	Messages []storage.Message
	// TakeKey makes a run that had ended take its key again. If another run holds the key, Commit returns a
	// *[storage.KeyTakenError].
	TakeKey bool
	Job     *JobEnd // new state of the job that asked for this run; nil leaves the job unchanged
}

// Head is the part of a run's record that every checkpoint replaces. Each field replaces the run's field of the
// same name, except where its comment says otherwise.
type Head struct {
	// Seq is the number of the previous commit; the store raises it by one. If the run's Seq differs, Commit
	// returns ErrFenced.
	Seq            int64
	State          states.Flow     // state of the run
	Outcome        storage.Outcome // how the run ends; may be set while the run is still being undone
	Undo           storage.Undone  // how much was undone
	Hold           bool            // an operator suspended the run
	Output         storage.Held    // result of the run
	Failure        *atom.Failure   // why the run failed, was cancelled, or is suspended
	Memory         atom.Value      // the language's memory; nil leaves the stored memory
	Absolve        bool            // set the run's Lost and CrashLoop to zero
	Started        time.Time       // when the run first executed; zero if it did not
	Ended          time.Time       // when the run ended; zero if it has not
	Entries        int64           // number of history entries after this commit
	Events         int64           // number of the language's events then, including those only counted
	Refs           int64           // number of payloads after this commit
	storage.Growth                 // counters after this commit
	Release        bool            // release the run: after this commit it has no owner
	Due            time.Time       // with Release, and in [Driver.Step]: when the run is due; zero: when a message arrives
	// Wakeups is, with Release, the wakeup counter that the owner read last. If the counter is higher now, the run
	// is due at once.
	Wakeups int64
	Time    time.Time // time of this commit, in UTC
}

// AsksPerson is [storage.Run.AsksPerson] after the commit.
func (h *Head) AsksPerson() bool {
	after := storage.Run{Outcome: h.Outcome, Undo: h.Undo, Failure: h.Failure}
	return after.AsksPerson()
}

// A Payload is a value larger than [InlineLimit]. Records refer to it by its number. A payload never changes.
type Payload struct {
	Ref  int64      // number of the payload within the run, from 1
	Data atom.Value // the value
}

// A JobEnd changes the state of a job. With a ClaimID it ends that claim. If the job's claim is another one by now,
// the call returns ErrFenced, and a checkpoint that contains the JobEnd changes nothing.
//
// Without a ClaimID, it changes a job that no process has claimed, and sets the job's attempts to zero. Within a
// checkpoint, it then changes only the job of the run, which the run's fence guards. A job that has ended does not
// change.
type JobEnd struct {
	Job      string        // id of the job
	Epoch    int64         // epoch of that claim
	ClaimID  string        // id of the claim to end; "" if the job is not claimed
	State    states.Job    // JobComplete, JobUnclaimed, JobScheduled or JobParked
	NotUntil time.Time     // earliest time of the next claim, if the job does not end
	Failure  *atom.Failure // why the job is parked, or why its run failed; nil otherwise
}

// Check returns an error that wraps ErrInvalid and names the problem if parts of the checkpoint contradict each
// other. For example, a value refers to a payload that does not exist, or history numbers have a gap.
func (cp *Checkpoint) Check() error {
	for _, check := range [...]func() error{
		cp.checkPayloads, cp.checkHistory, cp.checkAtoms, cp.checkUndo,
		cp.checkOthers,
	} {
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

// checkRef returns ErrInvalid if the value refers to a payload that neither the run nor the checkpoint has.
func (cp *Checkpoint) checkRef(of string, h storage.Held) error {
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
		if e.Kind == storage.EntryEvent {
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
		for _, held := range [...]storage.Held{a.Input, a.Note, a.Result, a.RevertResult, {Ref: a.Overflow}} {
			if err := cp.checkRef(a.Path, held); err != nil {
				return err
			}
		}
	}
	return nil
}

func (cp *Checkpoint) checkUndo() error {
	if cp.Pop < 0 {
		return cp.invalid("cannot pop %d entries of the undo stack", cp.Pop)
	}
	for i := range cp.Push {
		if want := cp.Push[0].N + int64(i); cp.Push[i].N != want {
			return cp.invalid("undo %d stands where %d should", cp.Push[i].N, want)
		}
	}
	return nil
}

func (cp *Checkpoint) checkOthers() error {
	if err := checkEach(cp.Labels); err != nil {
		return err
	}
	for i := range cp.Children {
		if err := CheckRun(&cp.Children[i]); err != nil {
			return err
		}
	}
	for i := range cp.Messages {
		if err := CheckMessage(&cp.Messages[i]); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) invalid(format string, args ...any) error {
	return fmt.Errorf("%w: checkpoint %d: %s", storage.ErrInvalid, cp.Head.Seq+1, fmt.Sprintf(format, args...))
}

// Events returns how many events of the language the checkpoint adds, including events that are counted and not
// stored.
func (cp *Checkpoint) Events() int64 {
	n := cp.Untold
	for i := range cp.History {
		if cp.History[i].Kind == storage.EntryEvent {
			n++
		}
	}
	return n
}
