package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// facts are what is known of a whole store: its processes, what they take up, and who asks for work.
type facts struct {
	owners  []storage.Owner
	present []engine.Presence        // what the servers that live say about themselves
	pollers map[string][]string      // names of the workers that ask for the work of each queue
	barred  string                   // why the database takes no writes; "" if it does, or if that is not known
	records map[string]ProcessRecord // what processes say about themselves, by the ID of the owner
}

func readFacts(ctx context.Context, store backend.Store) (f facts, err error) {
	if f.owners, err = store.Owners(ctx); err != nil {
		return f, err
	}
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: engine.PresenceRecords}) {
		if err != nil {
			return f, err
		}
		var p engine.Presence
		if record.Body.Decode(&p) != nil {
			continue
		}
		if o := f.owner(p.Owner); o != nil && o.Alive {
			f.present = append(f.present, p)
		}
	}
	f.pollers, f.records = pollersOf(store, f.present), map[string]ProcessRecord{}
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: ProcessRecords}) {
		if err != nil {
			return f, err
		}
		var p ProcessRecord
		if record.Body.Decode(&p) == nil {
			f.records[record.Key] = p
		}
	}
	if bars, can := store.(backend.WriteBars); can {
		f.barred, err = bars.Barred(ctx)
	}
	return f, err
}

// owner returns the process with that id; nil if the store does not know it.
func (f *facts) owner(id string) *storage.Owner {
	for i := range f.owners {
		if f.owners[i].ID == id {
			return &f.owners[i]
		}
	}
	return nil
}

// fault returns why a process that lives cannot use the database, as it has recorded; "" if it can.
func (f *facts) fault(owner string) string {
	o, p := f.owner(owner), f.records[owner]
	if o == nil || !o.Alive || p.Fault == "" {
		return ""
	}
	return fmt.Sprintf("%s since %s, as %s has recorded", p.Fault, p.Since.UTC().Format(time.RFC3339), ownerOf(o))
}

// A RunRefusal is a refusal of a run that still holds, see [engine.Refusal].
type RunRefusal struct {
	engine.Refusal

	At    time.Time // when the process refused the run
	Alive bool      // the process still runs
}

// refusal returns the refusal in a record; nil if it cannot be read.
func (f *facts) refusal(record *storage.NamedRecord) *RunRefusal {
	r := RunRefusal{At: record.Updated}
	if record.Body.Decode(&r.Refusal) != nil {
		return nil
	}
	o := f.owner(r.Owner)
	r.Alive = o != nil && o.Alive
	return &r
}

// refused returns the refusal of a run in a record; nil if it holds no longer.
func (f *facts) refused(run *storage.Run, record *storage.NamedRecord) *RunRefusal {
	if r := f.refusal(record); r != nil && r.Of(run) {
		return r
	}
	return nil
}

// refusalOf reads the refusal of a run; nil if no process has refused it.
func (f *facts) refusalOf(ctx context.Context, store storage.NamedRecords, run *storage.Run) (*RunRefusal, error) {
	record, err := store.NamedRecord(ctx, engine.RefusalRecords, run.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	return f.refused(run, &record), nil
}

// place adds to a diagnosis which processes drive the run, or may take it up.
func (f *facts) place(w *Diagnosis, refusal *RunRefusal) {
	run := &w.Run
	w.Owner, w.Pollers, w.Refusal = f.owner(run.Owner), f.pollers, refusal
	w.Barred = cmp.Or(f.barred, f.fault(run.Owner))
	if run.Hold || run.State.Ended() || run.State == states.FlowSuspended {
		return
	}
	refusing := ""
	if refusal != nil {
		refusing = refusal.Owner
	}
	if p := f.taker(func(p *engine.Presence) bool { return p.Takes(run) }, refusing); p != nil {
		w.Server, w.Busy, w.Slots = f.owner(p.Owner), p.Busy, p.Slots
	}
	for i := range f.present {
		if p := &f.present[i]; w.Changed == nil && hasChanged(p, run) && !p.Takes(run) {
			w.Changed = f.owner(p.Owner)
		}
	}
	if w.Server == nil {
		w.Needs = f.lacking(needsOf(run.Labels))
	}
}

// taker returns the process that takes something up, rather one that is free, and not the one that has refused it; nil
// if there is none.
func (f *facts) taker(takes func(*engine.Presence) bool, refusing string) (best *engine.Presence) {
	for i := range f.present {
		p := &f.present[i]
		if takes(p) && (best == nil || best.Busy != "" && p.Busy == "" || best.Owner == refusing) {
			best = p
		}
	}
	return best
}

// hasChanged reports whether a process has a flow of the run's name, but not of its structure.
func hasChanged(p *engine.Presence, run *storage.Run) bool {
	named := func(s engine.ServedFlow) bool { return s.Name == run.Flow }
	same := func(s engine.ServedFlow) bool { return named(s) && s.Structure == run.Structure }
	return run.Definition == "" && run.Structure != "" && slices.ContainsFunc(p.Flows, named) &&
		!slices.ContainsFunc(p.Flows, same)
}

// needsOf returns what the labels of a run say that it needs.
func needsOf(labels map[string]string) map[string]string {
	needs := map[string]string{}
	for k, v := range labels {
		if need, is := strings.CutPrefix(k, backend.NeedLabel); is {
			needs[need] = v
		}
	}
	return needs
}

// lacking returns the needs, such as gpu=a100, if no server that lives offers all of them.
func (f *facts) lacking(needs map[string]string) (all []string) {
	offered := slices.ContainsFunc(f.present, func(p engine.Presence) bool {
		for need, value := range needs {
			if p.Offers[need] != value {
				return false
			}
		}
		return true
	})
	if len(needs) == 0 || offered && len(f.present) > 0 {
		return nil
	}
	for _, need := range slices.Sorted(maps.Keys(needs)) {
		all = append(all, need+"="+needs[need])
	}
	return all
}

// Server returns a live process that takes up the run whenever it is due; nil if there is none, or if none is known.
func Server(ctx context.Context, store backend.Store, run *storage.Run) (*storage.Owner, error) {
	f, err := readFacts(ctx, store)
	w := Diagnosis{Run: *run}
	f.place(&w, nil)
	return w.Server, err
}

// Pollers returns the workers that ask for work, by queue, as the servers that live and this process know them. A
// worker without a name is called "?".
func Pollers(ctx context.Context, store backend.Store) ([]storage.Poller, error) {
	f, err := readFacts(ctx, store)
	pollers := make([]storage.Poller, 0, len(f.pollers))
	for _, queue := range slices.Sorted(maps.Keys(f.pollers)) {
		pollers = append(pollers, storage.Poller{Queue: queue, Workers: f.pollers[queue]})
	}
	return pollers, err
}

// pollersOf returns the names of the workers that ask for the work of each queue, as the servers that live and this
// process know them. A queue for which no worker asks is missing.
func pollersOf(store backend.Store, present []engine.Presence) map[string][]string {
	all := map[string][]string{}
	add := func(pollers []storage.Poller) {
		for _, p := range pollers {
			all[p.Queue] = append(all[p.Queue], p.Workers...)
		}
	}
	add(store.Pollers())
	for i := range present {
		add(present[i].Pollers)
	}
	for queue, workers := range all {
		slices.Sort(workers)
		workers = slices.Compact(workers)
		all[queue] = workers[:min(len(workers), backend.MaxPollerNames)]
	}
	return all
}
