package cloudevents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Tell puts events into the box of a run, all or none. It returns an error that
// wraps [storage.ErrNotFound] when there is no such run.
func Tell(ctx context.Context, box storage.Letterbox, run string, events ...Event) error {
	letters := make([]storage.Letter, len(events))
	for i, e := range events {
		letters[i] = e.letter(run)
	}
	return box.Send(ctx, letters...)
}

// letter returns the letter that brings the event to a run.
func (e Event) letter(run string) storage.Letter {
	key := "event " + e.Attribute("source") + " " + e.Attribute("id")
	if len(key) > storage.MaxID {
		sum := sha256.Sum256([]byte(key))
		key = "event " + hex.EncodeToString(sum[:])
	}
	return storage.Letter{Run: run, Kind: LetterKind, Name: clip(e.Attribute("type")), Key: key, Body: e.Body(), Sent: time.Now()}
}

func clip(name string) string { return name[:min(len(name), storage.MaxID)] }

// A Directory finds runs, and reaches them: every store does.
type Directory interface {
	storage.Letterbox
	Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error)
}

// open are the states of runs that have not ended.
var open = []states.Flow{
	states.FlowPending, states.FlowRunning, states.FlowSuspending, states.FlowSuspended, states.FlowResuming,
}

// Deliver puts an event into the boxes of all runs that have not ended and have
// said, by a label (see [flow.CorrelationLabel]), that they wait for one with some
// attribute of this value. It returns their ids. What it costs grows with those,
// not with the runs there are. A run that says so a moment later is not found: who
// sends an event that answers a run sends it when the run has asked.
func Deliver(ctx context.Context, store Directory, e Event) ([]string, error) {
	var found []string
	for name := range e {
		value := e.Attribute(name)
		if core[name] || value == "" {
			continue
		}
		ids, err := waiting(ctx, store, flow.CorrelationLabel(name, value))
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	letters := make([]storage.Letter, len(found))
	for i, id := range found {
		letters[i] = e.letter(id)
	}
	if len(letters) == 0 {
		return nil, nil
	}
	return found, store.Send(ctx, letters...)
}

// pageSize is how many runs are read at a time.
const pageSize = 200

func waiting(ctx context.Context, store Directory, label string) (ids []string, err error) {
	q := storage.RunQuery{States: open, Labels: map[string]string{label: flow.Correlated}, Limit: pageSize}
	for {
		runs, err := store.Runs(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			ids = append(ids, runs[i].ID)
		}
		if len(runs) < pageSize {
			return ids, nil
		}
		q.Before = runs[len(runs)-1].ID
	}
}
