package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// PresenceRecords is the kind of the named records in which servers say which runs they take up. The body of a record
// is a [Presence]. A server writes its record while [Server.Serve] runs, again once a minute and within seconds when
// other workers ask for work. It deletes the record when it takes up no more runs. Records of processes that died
// remain until another server starts.
const PresenceRecords = "ebb.servers"

// A Presence says which runs a server takes up, and which workers ask it for work.
type Presence struct {
	Owner string       `json:"owner"`           // id of its process, see [storage.Owner]
	Flows []ServedFlow `json:"flows,omitempty"` // flows of its program; empty: only those of definitions
	// Definitions says that it takes up runs of stored definitions, also if it has flows of its own.
	Definitions bool              `json:"definitions,omitzero"`
	Offers      map[string]string `json:"offers,omitempty"` // see [WithOffers]
	Slots       int               `json:"slots,omitzero"`   // see [WithSlots]
	Claims      bool              `json:"claims,omitzero"`  // it claims jobs of its flows, see [WithSource]
	// Busy says why it takes up no run now: "slots" if all are taken, "memory" if its budget is used up, "isolation" if it
	// tries a run that may kill its process; "" if it takes up runs. It may be some seconds old.
	Busy string `json:"busy,omitempty"`
	// Pollers are the workers that ask the server's process for work.
	Pollers []storage.Poller `json:"pollers,omitempty"`
}

// A ServedFlow is a flow that a program contains.
type ServedFlow struct {
	Name      string `json:"name"`
	Structure string `json:"structure"` // of the runs that can continue on it, see [storage.Run]
}

// Takes reports whether the server takes up the run when it is due.
func (p *Presence) Takes(run *storage.Run) bool {
	for label, value := range run.Labels {
		if need, is := strings.CutPrefix(label, backend.NeedLabel); is && p.Offers[need] != value {
			return false
		}
	}
	if run.Definition != "" {
		return p.Definitions || len(p.Flows) == 0
	}
	return slices.ContainsFunc(p.Flows, func(f ServedFlow) bool {
		return began(run, &flow.Plan{Flow: f.Name, Hash: f.Structure})
	})
}

// presence returns what the server says about itself.
func (s *Server) presence() *Presence {
	store := s.engine.env.Store
	p := &Presence{
		Owner: store.Owner().ID, Offers: s.offers, Pollers: store.Pollers(), Slots: s.slots, Claims: s.source != nil,
	}
	p.Flows, p.Definitions = s.engine.served()
	return p
}

// served returns the flows that the program contains, and whether it drives runs of stored definitions.
func (f *flows) served() (list []ServedFlow, definitions bool) {
	if f.catalog != nil {
		if list, definitions = nil, true; f.catalog.names() != nil {
			list, definitions = f.catalog.names().Served()
		}
	}
	for _, plan := range f.plans {
		list = append(list, ServedFlow{plan.Flow, plan.Hash})
	}
	return list, definitions
}

// occupied says why the server takes up no run now, see [Presence].
func (s *serving) occupied(now time.Time) string {
	switch {
	case s.slots.left() == 0:
		return "slots"
	case s.e.env.Memory.Exhausted(now):
		return "memory"
	case s.isolations.isOpen():
		return "isolation"
	default:
		return ""
	}
}

// presentEach is how often a server writes its record again: another process may have taken it for dead.
const presentEach = time.Minute

// pollersEach is how often a server looks for other workers that ask for work.
const pollersEach = 5 * time.Second

// present maintains the server's record until ctx ends. If the store fails, the record is missing until the next
// time: views then do not name this server, and its runs are driven all the same.
func (s *serving) present(ctx context.Context) {
	store, record := s.e.env.Store, storage.RecordWrite{Kind: PresenceRecords, Key: rand.Text(), Was: storage.AnyRevision}
	_ = forgetDead(ctx, store)
	_ = forgetRefusals(ctx, store)
	tick := time.NewTicker(pollersEach)
	defer tick.Stop()
	for written := (time.Time{}); ctx.Err() == nil; {
		now, is := time.Now(), s.server.presence()
		is.Busy = s.occupied(now)
		body := atom.MustEncode(is)
		if !bytes.Equal(body, record.Body) || now.Sub(written) >= presentEach {
			record.Body, written = body, now
			_, _ = store.WriteRecords(ctx, record)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pollInterval)
	defer cancel()
	record.Body, record.Delete = nil, true
	_, _ = store.WriteRecords(last, record)
}

// forgetDead deletes the records of servers whose process has ended.
func forgetDead(ctx context.Context, store backend.Store) error {
	owners, err := store.Owners(ctx)
	if err != nil {
		return err
	}
	var writes []storage.RecordWrite
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: PresenceRecords}) {
		if err != nil {
			return err
		}
		var p Presence
		_ = record.Body.Decode(&p) // no process owns a record that cannot be read
		if !slices.ContainsFunc(owners, func(o storage.Owner) bool { return o.Alive && o.ID == p.Owner }) {
			writes = append(writes, storage.RecordWrite{
				Kind: PresenceRecords, Key: record.Key, Was: record.Revision, Delete: true,
			})
		}
	}
	if len(writes) == 0 {
		return nil
	}
	_, err = store.WriteRecords(ctx, writes...)
	return err
}
