package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// keep puts a change into the checkpoint that is being gathered. Under Each it
// is committed at once.
func (d *driver) keep(cmd *scheduler.Command) error {
	d.dirty = true
	if cmd.Op == scheduler.FlowState {
		d.head.State = cmd.FlowTo
		entry := d.history(storage.EntryFlow)
		entry.From, entry.To = uint8(cmd.FlowFrom), uint8(cmd.FlowTo)
		d.note(Event{Kind: FlowChanged, From: cmd.FlowFrom.String(), To: cmd.FlowTo.String()})
		if cmd.FlowTo.Ended() || cmd.FlowTo == states.FlowSuspended && cmd.FlowFrom != states.FlowResuming {
			return nil // it is kept together with how it ended, which follows
		}
		return d.flushEach()
	}
	a := d.record(cmd)
	if cmd.Op == scheduler.Write {
		d.noteDelay(a)
		return nil
	}
	entry := d.history(storage.EntryAtom)
	entry.Path, entry.From, entry.To = a.Path, uint8(cmd.From), uint8(cmd.To)
	entry.Incarnation, entry.Attempt = a.Incarnation, a.Attempt
	switch cmd.To {
	case states.TaskRunning:
		if cmd.Node == nil && cmd.Scope == nil && !d.grows() {
			d.head.Iterations++
			d.attempted = true
		}
	case states.TaskSuccess:
		entry.Body = a.Result
	case states.TaskFailure, states.TaskCancelled:
		entry.Failure = a.Failure
	case states.TaskReverted:
		if cmd.Node != nil {
			d.head.Undo = storage.UndonePart
		}
	case states.TaskRevertFailure:
		entry.Failure = a.RevertFailure
	default:
	}
	if d.e.policy != NoHistory {
		d.wrote(len(a.Path) + inlined(entry.Body))
		if f := entry.Failure; f != nil {
			d.wrote(len(f.Message) + len(f.Stack) + len(f.Details))
		}
	}
	if d.watched {
		d.noteChange(cmd, a, entry)
	}
	return d.flushEach()
}

// record puts the record that a command brings into the checkpoint.
func (d *driver) record(cmd *scheduler.Command) *storage.Atom {
	switch {
	case cmd.Node != nil:
		return d.nodeRecord(cmd.Node, &cmd.Rec)
	case cmd.Scope != nil:
		return d.scopeRecord(cmd.Scope, &cmd.Rec)
	default:
		return d.planRecord(cmd.Atom, &cmd.Rec)
	}
}

// noteChange tells of an atom's new state.
func (d *driver) noteChange(cmd *scheduler.Command, a *storage.Atom, entry *storage.Entry) {
	ev := Event{
		Kind: AtomChanged, Path: a.Path, From: cmd.From.String(), To: cmd.To.String(),
		Attempt: a.Attempt, Failure: entry.Failure, Result: entry.Body.Data, Due: a.Due,
	}
	switch {
	case cmd.Node != nil:
		ev.Timer, ev.Inner = cmd.Node.Spec.Kind == flow.Timer, cmd.Node.Spec.Kind == flow.Fork
		ev.Reverts = cmd.Node.Spec.Undo != nil
	case cmd.Scope != nil:
		ev.Inner = true
	default:
		ev.Inner, ev.Reverts = d.plan.Atoms[cmd.Atom].Language != nil, d.plan.Atoms[cmd.Atom].Reverts()
	}
	if cmd.To != states.TaskRetrying && !a.StartedAt.IsZero() && !a.EndedAt.IsZero() {
		ev.Duration = a.EndedAt.Sub(a.StartedAt)
	}
	d.note(ev)
}

// noteDelay tells of a revert that failed and is tried again later.
func (d *driver) noteDelay(a *storage.Atom) {
	if a.State == states.TaskReverting && a.RevertFailure != nil && a.Due.After(d.now) {
		state := a.State.String()
		d.note(Event{
			Kind: RevertDelayed, Path: a.Path, From: state, To: state, Attempt: a.RevertAttempt, Failure: a.RevertFailure, Due: a.Due,
		})
	}
}

// planned returns the place in the checkpoint for the record of an atom of the
// plan. If the checkpoint already holds a record of the atom, planned returns that
// record, cleared.
func (d *driver) planned(i int32) *storage.Atom {
	at, path := &d.attempts[i], d.plan.Atoms[i].Name()
	if n := int(at.place); n < len(d.cp.Atoms) && d.cp.Atoms[n].Path == path {
		d.cp.Atoms[n] = storage.Atom{Path: path}
		return &d.cp.Atoms[n]
	}
	at.place = int32(len(d.cp.Atoms))
	return d.addAtom(path)
}

func (d *driver) addAtom(path string) *storage.Atom {
	a := extend(&d.cp.Atoms)
	a.Path = path
	return a
}

// few is up to how many records of a checkpoint are looked through rather than
// looked up.
const few = 16

// unplanned is planned for what has grown, which is known by its path alone.
func (d *driver) unplanned(path string) *storage.Atom {
	n := d.where(path)
	if n < 0 {
		if d.at != nil {
			d.at[path] = len(d.cp.Atoms)
		}
		return d.addAtom(path)
	}
	d.cp.Atoms[n] = storage.Atom{Path: path}
	return &d.cp.Atoms[n]
}

// where returns the place of an atom's record in the checkpoint, -1 if it has none.
func (d *driver) where(path string) int {
	atoms := d.cp.Atoms
	if len(atoms) <= few {
		return slices.IndexFunc(atoms, func(a storage.Atom) bool { return a.Path == path })
	}
	if d.at == nil {
		d.at = make(map[string]int, 2*len(atoms))
		for i := range atoms {
			d.at[atoms[i].Path] = i
		}
	}
	if i, ok := d.at[path]; ok {
		return i
	}
	return -1
}

// gathered returns the record of an atom that the checkpoint holds.
func (d *driver) gathered(path string) (storage.Atom, bool) {
	if i := d.where(path); i >= 0 {
		return d.cp.Atoms[i], true
	}
	return storage.Atom{}, false
}

// flushEach commits when every change is to be committed by itself.
func (d *driver) flushEach() error {
	if d.e.policy == Each && !d.whole {
		return d.flush()
	}
	return nil
}

// history adds a line to the history, which is the caller's to fill in. When none is
// kept, the line is forgotten.
func (d *driver) history(kind storage.EntryKind) *storage.Entry {
	d.lines++
	if d.e.policy == NoHistory {
		d.forgotten = storage.Entry{}
		return &d.forgotten
	}
	d.head.Entries++
	d.wrote(lineSize)
	e := extend(&d.cp.History)
	e.Seq, e.Kind, e.Time = d.head.Entries, kind, d.now
	return e
}

// keepEvents appends to the language's own history.
func (d *driver) keepEvents(cmd *scheduler.Command) {
	d.dirty = true
	untold := cmd.Untold
	if d.e.policy == NoHistory {
		untold += int64(len(cmd.Events))
	}
	d.head.Events, d.cp.Untold, d.lines = d.head.Events+untold, d.cp.Untold+untold, d.lines+int(cmd.Untold)
	for i := range cmd.Events {
		ev := &cmd.Events[i]
		entry := d.history(storage.EntryEvent)
		if d.e.policy != NoHistory {
			d.head.Events++
			entry.Path, entry.Number, entry.Prev, entry.Type = ev.Name, d.head.Events, ev.Prev, ev.Type
			entry.Details, entry.Key, entry.Body = ev.Details, ev.Key, d.hold(ev.Body)
			d.wrote(len(ev.Name) + len(ev.Type) + len(ev.Details) + inlined(entry.Body))
		}
		d.note(Event{Kind: LanguageEvent, Path: ev.Name, Name: ev.Type})
	}
}

func (d *driver) keepTimer(path string, kind storage.TimerKind, due time.Time) {
	d.dirty = true
	d.cp.Timers = append(d.cp.Timers, storage.TimerRow{Run: d.claim.Run, Path: path, Kind: kind, Due: due})
}

// flush commits what was gathered, then tells of it. The run is owned afterwards.
func (d *driver) flush() error {
	if !d.dirty && d.owns() {
		d.driveChildRuns()
		return nil
	}
	d.head.Time = d.now
	d.cp.Head = d.head
	if err := d.commit(); err != nil {
		return err
	}
	failpoint.Hit("engine.committed")
	d.head.Seq++
	d.head.Memory = nil
	d.dirty = false
	d.forgetTaken()
	d.renew()
	d.announce()
	d.driveChildRuns()
	return d.applySuspendRequest()
}

// maxEntries is how many lines of history may wait for one commit: what only
// computes rides along with what does not, but not for ever.
const maxEntries = 1000

// hasCapacity reports whether the checkpoint may grow further.
func (d *driver) hasCapacity() bool {
	return d.lines < maxEntries && d.head.Bytes-d.settled < maxGathered
}

// renew empties the checkpoint and keeps its buffers.
func (d *driver) renew() {
	empty(&d.cp)
	d.counted = false
	d.at, d.lines, d.settled = nil, 0, d.head.Bytes
	for _, key := range d.ending {
		delete(d.grown, key)
	}
	clear(d.ending)
	d.ending = d.ending[:0]
}

// commitTries is how often a checkpoint is offered to a store that fails in
// passing, with a growing wait in between.
const commitTries = 4

// final are the errors that offering the same checkpoint again does not mend.
var final = []error{
	storage.ErrFenced, storage.ErrClosed, storage.ErrCorrupt, storage.ErrInvalid, storage.ErrExists, storage.ErrNotFound, storage.ErrLimited,
	storage.ErrBroken,
}

// commit offers the checkpoint until it is taken, refused, or the tries are
// used up. Offering it twice is safe: the store's guard tells.
func (d *driver) commit() error {
	d.stale = true
	wait := 20 * time.Millisecond
	for try := 1; ; try++ {
		err := d.e.store.Commit(d.storing, d.claim, &d.cp)
		if err == nil {
			return nil
		}
		if try == commitTries || slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) }) {
			return d.storeError(err)
		}
		d.e.log.Warn("the store did not take a checkpoint; trying again", "run", d.claim.Run, "try", try, "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-d.ctx.Done():
			t.Stop()
			return d.storeError(err)
		}
		wait *= 5
	}
}

func (d *driver) storeError(err error) error { return &StoreError{Run: d.claim.Run, Err: err} }
