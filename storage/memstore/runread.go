package memstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// payload implements codec.Payloads.
func (r *runRecord) payload(ref int64) (atom.Value, error) {
	if ref < 1 || ref > int64(len(r.payloads)) {
		return nil, fmt.Errorf("%w: run %q has no payload %d", storage.ErrCorrupt, r.head.ID, ref)
	}
	return r.payloads[ref-1], nil
}

func (r *runRecord) fill(h storage.Held) storage.Held {
	if h.Ref != 0 {
		h.Data = r.payloads[h.Ref-1]
	}
	return h
}

// record returns a copy of the run's record.
func (r *runRecord) record() storage.Run {
	run := r.head
	run.Labels, run.Secrets = maps.Clone(run.Labels), cloneSecrets(run.Secrets)
	run.Failure = rules.CopyFailure(run.Failure)
	run.Input, run.Output = r.fill(run.Input), r.fill(run.Output)
	return run
}

// listAtoms returns the atoms that a query selects.
func (r *runRecord) listAtoms(q storage.AtomQuery) ([]storage.Atom, error) {
	var out []storage.Atom
	paths := r.atoms.paths()
	from := 0
	if q.After != "" {
		from, _ = slices.BinarySearch(paths, q.After+"\x00") // from the text that follows q.After
	}
	space := codec.NewSpace(q.Limit)
	for _, path := range paths[from:] {
		record, _ := r.atoms.find(path)
		if q.Live && !codec.IsLive(record) {
			continue
		}
		if space.Full() {
			break
		}
		a, err := codec.DecodeAtom(path, record, space.Counting(r.payload))
		if err != nil {
			return nil, err
		}
		space.Take(len(record))
		out = append(out, a)
	}
	return out, nil
}

// listMessages returns up to limit messages with numbers above after.
func (r *runRecord) listMessages(after int64, limit int) []storage.Message {
	from, _ := slices.BinarySearchFunc(r.messages, after+1,
		func(l storage.Message, n int64) int { return cmp.Compare(l.N, n) })
	out := slices.Clone(r.messages[from:min(from+limit, len(r.messages))])
	for i := range out {
		out[i].Failure = rules.CopyFailure(out[i].Failure)
	}
	return out
}

func (r *runRecord) listHistory(after int64, limit int) ([]storage.Entry, error) {
	// Start with the last chunk whose first entry is the wanted one or an earlier one.
	i, found := slices.BinarySearchFunc(r.history, after+1, func(c historyChunk, seq int64) int {
		return int(c.first - seq)
	})
	if !found && i > 0 {
		i--
	}
	var out []storage.Entry
	space := codec.NewSpace(limit)
	for ; i < len(r.history) && !space.Full(); i++ {
		entries, err := codec.DecodeHistory(r.history[i].first, r.history[i].rows, after, space, r.payload)
		if err != nil {
			return nil, err
		}
		out = append(out, entries...)
	}
	return out, nil
}

func (r *runRecord) listEvents(q *storage.EventQuery) ([]storage.Entry, error) {
	var found []codec.Event
	var before int64 // number of the last event before the chunk
	from, step := 0, 1
	if q.Reverse {
		from, step = len(r.history)-1, -1
	}
	for i := from; i >= 0 && i < len(r.history) && (q.Limit <= 0 || len(found) < q.Limit); i += step {
		if before = 0; i > 0 {
			before = r.history[i-1].last
		}
		if q.After > 0 && (!q.Reverse && r.history[i].last <= q.After || q.Reverse && before >= q.After-1) {
			continue
		}
		var err error
		if found, err = codec.FindEvents(found, r.history[i].first, r.history[i].rows, q); err != nil {
			return nil, err
		}
	}
	return codec.DecodeEvents(found, codec.NewSpace(q.Limit), r.payload)
}

// snapshot loads the records with which a process resumes the run.
func (m *memory) snapshot(r *runRecord) (*backend.Snapshot, error) {
	atoms, err := r.listAtoms(storage.AtomQuery{Live: true})
	if err != nil {
		return nil, err
	}
	s := &backend.Snapshot{
		Run: r.record(), Atoms: atoms, Messages: r.listMessages(0, len(r.messages)),
		Timers: r.listTimers(),
	}
	for _, id := range r.open {
		s.Tokens = append(s.Tokens, m.token(id))
	}
	return s, nil
}
