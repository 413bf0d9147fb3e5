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
		d.history(storage.Entry{Kind: storage.EntryFlow, From: uint8(cmd.FlowFrom), To: uint8(cmd.FlowTo)})
		d.note(Event{Kind: FlowChanged, From: cmd.FlowFrom.String(), To: cmd.FlowTo.String()})
		return d.flushEach()
	}
	var a storage.Atom
	ev := Event{Kind: AtomChanged}
	switch {
	case cmd.Node != nil:
		a = d.nodeRecord(cmd.Node, &cmd.Rec)
		ev.Timer, ev.Inner = cmd.Node.Spec.Kind == flow.Timer, cmd.Node.Spec.Kind == flow.Fork
		ev.Reverts = cmd.Node.Spec.Undo != nil
	case cmd.Scope != nil:
		a = d.scopeRecord(cmd.Scope, &cmd.Rec)
		ev.Inner = true
	default:
		a = d.planRecord(cmd.Atom, &cmd.Rec)
		ev.Inner = d.e.plan.Atoms[cmd.Atom].Language != nil
		ev.Reverts = d.e.plan.Atoms[cmd.Atom].Reverts()
	}
	d.put(&a)
	if cmd.Op == scheduler.Write {
		return nil
	}
	entry := storage.Entry{
		Kind: storage.EntryAtom, Path: a.Path, From: uint8(cmd.From), To: uint8(cmd.To),
		Incarnation: a.Incarnation, Attempt: a.Attempt,
	}
	switch cmd.To {
	case states.TaskSuccess:
		entry.Body, ev.Result = a.Result, a.Result.Data
	case states.TaskFailure, states.TaskCancelled:
		entry.Failure = a.Failure
	case states.TaskRevertFailure:
		entry.Failure = a.RevertFailure
	default:
	}
	d.history(entry)
	ev.Path, ev.From, ev.To = a.Path, cmd.From.String(), cmd.To.String()
	ev.Attempt, ev.Failure, ev.Due = a.Attempt, entry.Failure, a.Due
	d.note(ev)
	return d.flushEach()
}

// few is up to how many records of a checkpoint are looked through rather than
// looked up.
const few = 16

// put puts a record into the checkpoint, in place of an earlier one of the same
// atom.
func (d *driver) put(a *storage.Atom) {
	if atoms := d.cp.Atoms; len(atoms) <= few {
		for i := range atoms {
			if atoms[i].Path == a.Path {
				atoms[i] = *a
				return
			}
		}
	} else {
		if d.at == nil {
			d.at = make(map[string]int, 2*len(atoms))
			for i := range atoms {
				d.at[atoms[i].Path] = i
			}
		}
		if i, ok := d.at[a.Path]; ok {
			atoms[i] = *a
			return
		}
		d.at[a.Path] = len(atoms)
	}
	d.cp.Atoms = append(d.cp.Atoms, *a)
}

// flushEach commits when every change is to be committed by itself.
func (d *driver) flushEach() error {
	if d.e.policy == Each && !d.whole {
		return d.flush()
	}
	return nil
}

func (d *driver) history(entry storage.Entry) {
	d.head.Entries++
	entry.Seq, entry.Time = d.head.Entries, d.now
	d.cp.History = append(d.cp.History, entry)
}

// keepEvents appends to the language's own history.
func (d *driver) keepEvents(cmd *scheduler.Command) {
	d.dirty = true
	for i := range cmd.Events {
		ev := &cmd.Events[i]
		d.head.Events++
		d.history(storage.Entry{
			Kind: storage.EntryEvent, Path: ev.Name, Number: d.head.Events, Prev: ev.Prev, Type: ev.Type,
			Details: ev.Details, Key: ev.Key, Body: d.hold(ev.Body),
		})
		d.note(Event{Kind: LanguageEvent, Path: ev.Name, Name: ev.Type})
	}
}

func (d *driver) keepTimer(path string, kind storage.TimerKind, due time.Time) {
	d.dirty = true
	d.cp.Timers = append(d.cp.Timers, storage.TimerRow{Run: d.claim.Run, Path: path, Kind: kind, Due: due})
}

// flush commits what was gathered, then tells of it.
func (d *driver) flush() error {
	if !d.dirty {
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
	d.renew()
	d.tell()
	return nil
}

// maxEntries is how many lines of history may wait for one commit: what only
// computes rides along with what does not, but not for ever.
const maxEntries = 1000

// room reports whether the checkpoint may grow further.
func (d *driver) room() bool { return len(d.cp.History) < maxEntries }

// renew empties the checkpoint and keeps its room.
func (d *driver) renew() {
	cp := &d.cp
	clear(cp.Atoms)
	clear(cp.History)
	clear(cp.Payloads)
	*cp = storage.Checkpoint{
		Atoms: cp.Atoms[:0], History: cp.History[:0], Payloads: cp.Payloads[:0],
		Push: cp.Push[:0], Timers: cp.Timers[:0],
	}
	d.at = nil
}

// commitTries is how often a checkpoint is offered to a store that fails in
// passing, with a growing wait in between.
const commitTries = 4

// final are the errors that offering the same checkpoint again does not mend.
var final = []error{
	storage.ErrFenced, storage.ErrClosed, storage.ErrCorrupt, storage.ErrInvalid, storage.ErrExists, storage.ErrNotFound,
}

// commit offers the checkpoint until it is taken, refused, or the tries are
// used up. Offering it twice is safe: the store's guard tells.
func (d *driver) commit() error {
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
