package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// RefusalRecords is the kind of the named records in which processes say which runs they cannot drive, and why: the
// flow has changed, a definition cannot be read, or a record is damaged. The key of a record is the run's id, and its
// body is a [Refusal]. A process writes it when it learns the reason, and not at each try. A record whose run has gone
// on since counts no longer, see [Refusal.Of]; a server deletes it when it starts.
const RefusalRecords = "ebb.refusals"

// A Refusal says why a process cannot drive a run.
type Refusal struct {
	Owner string `json:"owner"` // id of the process, see [storage.Owner]
	PID   int    `json:"pid"`   // its process ID
	Host  string `json:"host"`  // name of its machine
	Why   string `json:"why"`   // the reason, and what to do

	Structure string `json:"structure,omitempty"` // of the run at that time
	Entries   int64  `json:"entries"`             // lines of its history at that time
}

// Of reports whether the refusal still concerns the run: it has not gone on since.
func (r *Refusal) Of(run *storage.Run) bool {
	return !run.State.Ended() && r.Structure == run.Structure && r.Entries == run.Entries
}

// refuse records why this process cannot drive a run, unless it only lacks the flow, or the store fails. It returns
// err. If the record cannot be written, the next try writes it.
func (e *Engine) refuse(ctx context.Context, run *storage.Run, err error) error {
	failed, broken := errors.AsType[*StoreError](err)
	switch {
	case run.State.Ended(), isRest(err), ctx.Err() != nil, broken && !errors.Is(failed, storage.ErrCorrupt):
		return err
	case errors.Is(err, storage.ErrNotFound) && !e.mayServe(run):
		return err // another program has it
	}
	store, why := e.env.Store, strings.TrimPrefix(err.Error(), "engine: ")
	if changed, is := errors.AsType[*changedError](err); is {
		why = changed.why()
	} else if errors.Is(err, storage.ErrNotFound) && run.Definition != "" {
		why = "its definition is not in the database any more; ebb serve FILE stores it again"
	}
	owner := store.Owner()
	refusal := Refusal{owner.ID, owner.PID, owner.Host, why, run.Structure, run.Entries}
	body := atom.MustEncode(refusal)
	stored, failure := store.NamedRecord(ctx, RefusalRecords, run.ID)
	if failure == nil && (bytes.Equal(stored.Body, body) || e.refusedAlike(ctx, &refusal, stored.Body)) {
		return err
	}
	_, _ = store.WriteRecords(ctx, storage.RecordWrite{
		Kind: RefusalRecords, Key: run.ID, Was: storage.AnyRevision, Body: body,
	})
	return err
}

// refusedAlike reports whether another process that lives has recorded the same refusal.
func (e *Engine) refusedAlike(ctx context.Context, refusal *Refusal, body atom.Value) bool {
	was, now := Refusal{}, *refusal
	if body.Decode(&was) != nil {
		return false
	}
	now.Owner, now.PID, now.Host = was.Owner, was.PID, was.Host
	owners, err := e.env.Store.Owners(ctx)
	return err == nil && was == now &&
		slices.ContainsFunc(owners, func(o storage.Owner) bool { return o.Alive && o.ID == was.Owner })
}

// mayServe reports whether this process says that it has a flow of the run's name, of any structure.
func (e *Engine) mayServe(run *storage.Run) bool {
	flows, definitions := e.served()
	return run.Definition != "" && definitions ||
		slices.ContainsFunc(flows, func(f ServedFlow) bool { return f.Name == run.Flow })
}

// forgetRefusals deletes the refusals whose runs have gone on or are gone.
func forgetRefusals(ctx context.Context, store backend.Store) error {
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: RefusalRecords}) {
		if err != nil {
			return err
		}
		var r Refusal
		run, err := store.Run(ctx, record.Key)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if err == nil && record.Body.Decode(&r) == nil && r.Of(&run) {
			continue
		}
		gone := storage.RecordWrite{Kind: RefusalRecords, Key: record.Key, Was: record.Revision, Delete: true}
		if _, err := store.WriteRecords(ctx, gone); err != nil && !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return nil
}
