package storage

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// memoryRun is one run and all that belongs to it.
type memoryRun struct {
	n        int64     // order of creation
	queued   time.Time // the due time under which it is in the heap of those that are due; zero when it is not
	head     Run       // Input and Output without the data of payloads
	atoms    memoryAtoms
	history  []historyChunk
	payloads []atom.Value // by number, from 1
	undo     []string     // paths, from the bottom
	timers   []TimerRow
	messages []Message
	keys     map[string]bool // of messages that came
	open     []string        // tokens that are open
	tokens   []string        // all its tokens
}

// historyChunk is a stretch of a run's history, encoded. Only the last grows.
type historyChunk struct {
	first int64
	rows  []byte
}

// chunkSize is where a chunk is full: so much is copied at most when a history
// grows, and skipped at most when one is read from its middle.
const chunkSize = 32 << 10

// New returns the run as a store keeps it when it is created: the store's own
// counters at zero, and an input above InlineLimit as payload 1. For those who
// write stores.
func (r *Run) New() Run { return newMemoryRun(*r).record() }

// newMemoryRun returns the run in the state in which it is created.
func newMemoryRun(run Run) *memoryRun {
	run.Labels, run.Secrets = maps.Clone(run.Labels), run.Secrets.clone()
	run.Failure = copyFailure(run.Failure)
	run.Seq, run.Entries, run.Events, run.Refs, run.Undos, run.Growth = 0, 0, 0, 0, 0, Growth{}
	run.Fence, run.ClaimID, run.Owner, run.Wakeups, run.Lost, run.Suspicion = 0, "", "", 0, 0, Suspicion{}
	if run.Created.IsZero() {
		run.Created = time.Now()
	}
	run.Updated = run.Created
	r := &memoryRun{}
	if len(run.Input.Data) > InlineLimit {
		r.payloads = []atom.Value{run.Input.Data}
		run.Input = Held{Ref: 1}
		run.Refs = 1
	}
	r.head = run
	return r
}

// payload implements Payloads.
func (r *memoryRun) payload(ref int64) (atom.Value, error) {
	if ref < 1 || ref > int64(len(r.payloads)) {
		return nil, fmt.Errorf("%w: run %q has no payload %d", ErrCorrupt, r.head.ID, ref)
	}
	return r.payloads[ref-1], nil
}

// stored returns h without the data of a payload.
func (h Held) stored() Held {
	if h.Ref != 0 {
		h.Data = nil
	}
	return h
}

func (r *memoryRun) fill(h Held) Held {
	if h.Ref != 0 {
		h.Data = r.payloads[h.Ref-1]
	}
	return h
}

// record returns a copy of the run's row.
func (r *memoryRun) record() Run {
	run := r.head
	run.Labels, run.Secrets = maps.Clone(run.Labels), run.Secrets.clone()
	run.Failure = copyFailure(run.Failure)
	run.Input, run.Output = r.fill(run.Input), r.fill(run.Output)
	return run
}

func copyFailure(f *atom.Failure) *atom.Failure {
	if f == nil {
		return nil
	}
	c := *f.Bounded()
	return &c
}

// listAtoms returns the atoms that a query selects.
func (r *memoryRun) listAtoms(q AtomQuery) ([]Atom, error) {
	var out []Atom
	paths := r.atoms.paths()
	from := 0
	if q.After != "" {
		from, _ = slices.BinarySearch(paths, q.After+"\x00") // the next text there is
	}
	space := NewSpace(q.Limit)
	for _, path := range paths[from:] {
		record, _ := r.atoms.find(path)
		if q.Live && !isLive(record) {
			continue
		}
		if space.Full() {
			break
		}
		a, err := DecodeAtom(path, record, space.Counting(r.payload))
		if err != nil {
			return nil, err
		}
		space.Take(len(record))
		out = append(out, a)
	}
	return out, nil
}

func (r *memoryRun) listMessages() []Message {
	out := slices.Clone(r.messages)
	for i := range out {
		out[i].Failure = copyFailure(out[i].Failure)
	}
	return out
}

func (r *memoryRun) listHistory(after int64, limit int) ([]Entry, error) {
	// The last chunk that begins at or before the entry wanted first.
	i, found := slices.BinarySearchFunc(r.history, after+1, func(c historyChunk, seq int64) int {
		return int(c.first - seq)
	})
	if !found && i > 0 {
		i--
	}
	var out []Entry
	space := NewSpace(limit)
	for ; i < len(r.history) && !space.Full(); i++ {
		entries, err := DecodeHistory(r.history[i].first, r.history[i].rows, after, space, r.payload)
		if err != nil {
			return nil, err
		}
		out = append(out, entries...)
	}
	return out, nil
}

// snapshot loads what is needed to go on with the run.
func (m *memory) snapshot(r *memoryRun) (*Snapshot, error) {
	atoms, err := r.listAtoms(AtomQuery{Live: true})
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Run: r.record(), Atoms: atoms, Messages: r.listMessages(), Timers: r.listTimers()}
	for _, id := range r.open {
		s.Tokens = append(s.Tokens, m.token(id))
	}
	return s, nil
}

// writable returns what forbids a checkpoint besides the run's own row: a child
// whose id is taken, a job whose claim is void.
func (m *memory) writable(run string, cp *Checkpoint) error {
	for i := range cp.Children {
		id := cp.Children[i].ID
		taken := func(c Run) bool { return c.ID == id }
		if id == run || m.runs[id] != nil || slices.ContainsFunc(cp.Children[:i], taken) {
			return fmt.Errorf("%w: run %q", ErrExists, id)
		}
	}
	for i := range cp.Tokens {
		t, known := m.tokens[cp.Tokens[i].ID]
		if known && t.Run != cp.Tokens[i].Run && cp.Tokens[i].State == TokenOpen {
			return fmt.Errorf("%w: token %q", ErrExists, t.ID)
		}
	}
	if cp.Job == nil {
		return nil
	}
	_, err := m.jobToEnd(run, cp.Job)
	return err
}

// apply writes a checkpoint that may be written: nothing in it fails.
func (m *memory) apply(r *memoryRun, cp *Checkpoint) {
	m.applyHead(r, cp)
	for key, value := range cp.Labels {
		r.label(key, value)
	}
	for i := range cp.Payloads {
		r.payloads = append(r.payloads, cp.Payloads[i].Data)
	}
	for i := range cp.Atoms {
		m.scratch, _ = cp.Atoms[i].AppendBinary(m.scratch[:0])
		r.atoms.put(cp.Atoms[i].Path, m.scratch)
	}
	for _, path := range cp.Forget {
		r.atoms.forget(path)
	}
	r.remember(cp.History)
	r.undo = r.undo[:len(r.undo)-cp.Pop]
	for i := range cp.Push {
		r.undo = append(r.undo, cp.Push[i].Path)
	}
	for i := range cp.Timers {
		r.setTimer(cp.Timers[i])
	}
	for i := range cp.Tokens {
		m.setToken(r, cp.Tokens[i])
	}
	if len(cp.Taken) > 0 {
		taken := slices.Sorted(slices.Values(cp.Taken)) // they may be very many
		r.messages = slices.DeleteFunc(r.messages, func(l Message) bool { _, is := slices.BinarySearch(taken, l.N); return is })
	}
	for i := range cp.Outbox {
		out := cp.Outbox[i]
		m.sent++
		out.N, out.Run = m.sent, r.head.ID
		m.outbox = append(m.outbox, out)
	}
	for i := range cp.Children {
		child := cp.Children[i]
		if child.Due.IsZero() {
			child.Due = cp.Head.Time
		}
		m.create(child)
	}
	for i := range cp.Messages {
		if to := m.runs[cp.Messages[i].Run]; to != nil {
			m.deliver(to, cp.Messages[i])
		}
	}
	if cp.Job != nil {
		if j, _ := m.jobToEnd(r.head.ID, cp.Job); j != nil {
			m.endJob(j, cp.Job)
		}
	}
}

// label sets a label, or takes it away.
func (r *memoryRun) label(key, value string) {
	labels := maps.Clone(r.head.Labels) // what was given out keeps it as it was
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	if value == "" {
		delete(labels, key)
	}
	r.head.Labels = labels
}

func (m *memory) applyHead(r *memoryRun, cp *Checkpoint) {
	h, run := &cp.Head, &r.head
	run.Seq++
	run.State, run.Outcome, run.Undo, run.Hold = h.State, h.Outcome, h.Undo, h.Hold
	run.Failure = copyFailure(h.Failure)
	run.Output = h.Output.stored()
	if cp.Input != nil {
		run.Input = cp.Input.stored()
	}
	if cp.Structure != "" {
		run.Structure = cp.Structure
	}
	if h.Memory != nil {
		run.Memory = h.Memory
	}
	run.Started, run.Ended, run.Updated = h.Started, h.Ended, h.Time
	if h.Absolve {
		run.Lost, run.Suspicion = 0, Suspicion{}
	}
	run.Entries, run.Events, run.Refs, run.Growth = h.Entries, h.Events, h.Refs, h.Growth
	run.Undos += int64(len(cp.Push) - cp.Pop)
	if h.Release {
		run.Owner, run.Due = "", h.Due
		run.Suspicion.Trial &^= OnTrial
		if run.Wakeups != h.Wakeups {
			run.Due = time.Now()
		}
		m.wants(r)
		m.notify()
	}
}

// firstRows is how many bytes a part of the history begins with: that of a few
// atoms.
const firstRows = 256

// remember appends to the history.
func (r *memoryRun) remember(entries []Entry) {
	if len(entries) == 0 {
		return
	}
	last := len(r.history) - 1
	if last < 0 || len(r.history[last].rows) >= chunkSize {
		r.history = append(r.history, historyChunk{first: entries[0].Seq, rows: make([]byte, 0, firstRows)})
		last++
	}
	r.history[last].rows = AppendHistory(r.history[last].rows, entries)
}

func (r *memoryRun) setTimer(t TimerRow) {
	t.Run = r.head.ID
	r.timers = slices.DeleteFunc(r.timers, func(o TimerRow) bool { return o.Path == t.Path && o.Kind == t.Kind })
	if !t.Due.IsZero() {
		r.timers = append(r.timers, t)
	}
}

// create adds a run that is not there.
func (m *memory) create(run Run) *memoryRun {
	r := newMemoryRun(run)
	m.made++
	r.n = m.made
	m.runs[run.ID] = r
	m.order = append(m.order, r)
	m.bear(run.Root)
	m.wants(r)
	m.notify()
	return r
}
