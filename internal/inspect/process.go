package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// ProcessRecords is the kind of the records in which processes that serve a database describe themselves. The key of a
// record is the ID of the owner, and its body a [ProcessRecord].
const ProcessRecords = "ebb.processes"

// A ProcessRecord is what only a process knows about itself.
type ProcessRecord struct {
	Version    string `json:"version"`
	Revision   string `json:"revision"`
	Go         string `json:"go"`
	Address    string `json:"address,omitzero"`     // at which it listens, or off
	SkipsWaits bool   `json:"skips_waits,omitzero"` // which is for tests

	Commits int64 `json:"commits"` // transactions that changed rows
	Writes  int64 `json:"writes"`  // writes in these transactions

	Fault string    `json:"fault,omitzero"` // of the database, see [sqlstore.Health]; "" if the process meets none
	Since time.Time `json:"since,omitzero"` // of the fault
}

// A Process is one that uses the database, or did so until lately, as `ebb processes -o json` prints it.
type Process struct {
	Host    string    `json:"host"`    // name of its machine
	PID     int       `json:"pid"`     // its process ID there
	State   string    `json:"state"`   // "alive", "stopped" by the operating system, "ended" in order, or "died"
	Started time.Time `json:"started"` // when it opened the database
	Seen    time.Time `json:"seen"`    // when it was last seen, by the database's clock
	Runs    int       `json:"runs"`    // runs that it drives, with those that they started
	Serves  bool      `json:"serves"`  // it takes up runs that are due
	Slots   int       `json:"slots"`   // how many runs it takes up at once
	// Why it takes up no run now: slots if all are taken, memory, or isolation
	Busy   string            `json:"busy,omitempty"`
	Offers map[string]string `json:"offers,omitempty"` // what it offers to jobs that need it

	Version  string    `json:"version,omitempty"`    // of its ebb serve
	Revision string    `json:"revision,omitempty"`   // commit of its ebb serve
	Address  string    `json:"address,omitempty"`    // at which it listens, or off
	Fault    string    `json:"fault,omitempty"`      // why it cannot use the database
	Since    time.Time `json:"fault_since,omitzero"` // since when
}

// ShortRevision returns the beginning of the commit, which is enough for people.
func (p *Process) ShortRevision() string { return p.Revision[:min(len(p.Revision), 12)] }

// The states of a process.
const (
	processAlive   = "alive"
	processStopped = "stopped"
	processEnded   = "ended"
	processDied    = "died"
)

// Processes returns the processes that use the database, or did so until lately: those that live first, then by host
// and start. Errors are the store's.
func Processes(ctx context.Context, store backend.Store) ([]Process, error) {
	f, err := readFacts(ctx, store)
	if err != nil {
		return nil, err
	}
	runs, err := store.OwnedRuns(ctx)
	if err != nil {
		return nil, err
	}
	list, at := make([]Process, len(f.owners)), map[string]*Process{}
	for i := range f.owners {
		o := &f.owners[i]
		list[i] = Process{
			Host: o.Host, PID: o.PID, State: stateOf(o), Started: o.Started.UTC(), Seen: o.Seen.UTC(), Runs: runs[o.ID],
		}
		at[o.ID] = &list[i]
	}
	for i := range f.present { // a process may have several servers
		s := &f.present[i]
		p := at[s.Owner]
		p.Serves, p.Slots, p.Busy, p.Offers = true, p.Slots+s.Slots, cmp.Or(p.Busy, s.Busy), s.Offers
	}
	for owner, is := range f.records {
		if p, known := at[owner]; known {
			p.Version, p.Revision, p.Address, p.Fault, p.Since = is.Version, is.Revision, is.Address, is.Fault, is.Since
		}
	}
	slices.SortStableFunc(list, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Host, b.Host), a.Started.Compare(b.Started))
	})
	return list, nil
}

func stateOf(o *storage.Owner) string {
	switch {
	case o.Stopped:
		return processStopped
	case o.Alive:
		return processAlive
	case o.Ended:
		return processEnded
	default:
		return processDied
	}
}

// rank orders processes: those that live come first.
func (p *Process) rank() int {
	if p.State == processEnded || p.State == processDied {
		return 1
	}
	return 0
}
