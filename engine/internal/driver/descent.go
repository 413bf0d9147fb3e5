package driver

import (
	"errors"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A descent ends the runs below the child runs that a run no longer waits for, and below those that its language ends.
// If each of them ended its own children only when its own turn came, the lowest ones would begin further runs
// meanwhile, and faster.
//
// A descent only comes earlier than those turns: if the process dies, or a run begins a child during the descent, that
// run cancels its children in its turn, with a descent of its own.
type descent struct {
	*run

	deep    bool   // the run was cancelled by a descent, so its children probably were, too
	dropped []told // child runs that the pending checkpoint ends
}

// told is a run that was sent a message that ends it, or will be with the next batch.
type told struct {
	run      string // "" for the open run with the key
	key      string
	undo     bool // the run is undone, and so are those below it, as far as they have an undo
	language bool // the language of its parent ends it, so only what a language ends is below it
	sent     bool
}

// descentBatch is how many runs a descent cancels with one commit.
const descentBatch = 200

// drop returns the message that cancels a child run because its parent no longer waits for it.
func drop(id string, undo, deep bool) (storage.Message, error) {
	why := inbox.Cancelled("its parent run no longer waits for it")
	return (&inbox.Command{Kind: inbox.Cancel, Why: why, Undo: undo, Deep: deep}).Message(id)
}

// end takes in the messages of a language that end runs. The next commit sends them.
func (d *descent) end(messages []grow.Message) {
	for i := range messages {
		if messages[i].Stops {
			d.dropped = append(d.dropped, told{run: messages[i].To, key: messages[i].ToKey, language: true, sent: true})
		}
	}
}

// wasTold reports whether a descent has cancelled a child run already.
func (d *descent) wasTold(id string, undo bool) (bool, error) {
	if !d.deep {
		return false, nil
	}
	_, messages, err := d.env.Store.Messages(d.storing, id, 0) // first: a run that takes the request is then seen as ended
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return false, d.Wrap(err)
	}
	if slices.ContainsFunc(messages, func(m storage.Message) bool { return m.Kind == inbox.Cancel }) {
		return true, nil
	}
	run, err := d.env.Store.Run(d.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return true, nil
	case err != nil:
		return false, d.Wrap(err)
	default:
		return run.State.Ended() && (!undo || run.State != states.FlowSuccess), nil
	}
}

// descend ends the runs below those that the last commit has ended: parents before children, so that a run hears
// of it before it hears of the end of a child.
func (d *descent) descend() error {
	queue := d.dropped
	d.dropped = nil
	for len(queue) > 0 && d.ctx.Err() == nil {
		var batch []storage.Message
		var again []told // had no children, but may have begun one before the request to cancel them arrived
		for len(queue) > 0 && len(batch) < descentBatch {
			at := queue[0]
			queue = queue[1:]
			if at.run == "" {
				run, err := d.env.Store.OpenRun(d.storing, at.key)
				if errors.Is(err, storage.ErrNotFound) {
					continue
				} else if err != nil {
					return d.Wrap(err)
				}
				at.run = run
			}
			below, messages, err := d.below(&at)
			if err != nil {
				return d.Wrap(err)
			}
			if len(below) == 0 && !at.sent {
				at.sent = true
				again = append(again, at)
			}
			queue = append(queue, below...)
			batch = append(batch, messages...)
		}
		if err := d.tellAll(batch); err != nil {
			return d.Wrap(err)
		}
		for i := range queue {
			queue[i].sent = true
		}
		queue = append(queue, again...)
	}
	return nil
}

// below returns the runs for which a run waits in order to go forward, and the messages that end them.
func (d *descent) below(at *told) (below []told, messages []storage.Message, err error) {
	atoms, err := d.env.Store.Atoms(d.storing, at.run, storage.AtomQuery{Live: true})
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, nil, err
	}
	for i := range atoms {
		a := &atoms[i]
		id, awaited := backend.BegunBy(at.run, a)
		if !awaited || a.State != states.TaskRunning {
			continue
		}
		kept, stop := keptBy(a)
		switch {
		case stop != nil:
			below = append(below, told{run: id, language: true})
			messages = append(messages, storage.Message{
				Run: id, From: at.run, Kind: stop.Kind, Name: stop.Name, Body: stop.Body,
			})
			continue
		case kept, at.language:
			continue
		}
		undo := at.undo && a.Undo == storage.UndoReverts
		m, err := drop(id, undo, true)
		if err != nil {
			return nil, nil, err
		}
		below, messages = append(below, told{run: id, undo: undo}), append(messages, m)
	}
	return below, messages, nil
}

// keptBy reports whether the language of the run decides what becomes of the child run of an atom, and with which
// message it ends that run; nil if it does not.
func keptBy(a *storage.Atom) (kept bool, stop *grow.Message) {
	var spec grow.Spec
	if a.Spec == nil || a.Spec.Decode(&spec) != nil || spec.Child == nil || !spec.Child.Kept {
		return false, nil
	}
	return true, spec.Child.Stop
}

// tellAll sends messages, except to runs that do not exist any more.
func (d *descent) tellAll(messages []storage.Message) error {
	err := d.env.Store.Send(d.storing, messages...)
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	for i := range messages {
		if err := d.env.Store.Send(d.storing, messages[i]); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return nil
}
