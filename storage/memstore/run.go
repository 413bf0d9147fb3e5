package memstore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// A runRecord is one run and all records that belong to it.
type runRecord struct {
	queued   time.Time   // due time under which the run is in the heap; zero if it is not in the heap
	head     storage.Run // record of the run, in which Input and Output do not contain payloads
	atoms    atomRecords
	history  []historyChunk
	payloads []atom.Value // payloads; payload n has index n-1
	undo     []string     // paths, from the bottom of the stack
	timers   []storage.TimerRow
	messages []storage.Message
	keys     map[string]bool // keys of the messages that arrived
	open     []string        // ids of open tokens
	tokens   []string        // ids of all its tokens
}

// historyChunk is an encoded part of a run's history. Only the last chunk grows.
type historyChunk struct {
	first int64
	last  int64 // number of the last event in it or before it
	rows  []byte
}

// chunkSize is the size at which a chunk is full. It bounds the bytes that are copied when a history grows, and
// skipped when a read starts in its middle.
const chunkSize = 32 << 10

// newRun returns the record of a run as Create creates it.
func newRun(run storage.Run) *runRecord {
	r := &runRecord{head: backend.NewRun(&run)}
	if r.head.Input.Ref != 0 {
		r.payloads = []atom.Value{r.head.Input.Data}
		r.head.Input = storage.Held{Ref: 1}
	}
	return r
}

// stored returns h without the data of a payload.
func stored(h storage.Held) storage.Held {
	if h.Ref != 0 {
		h.Data = nil
	}
	return h
}

// writable returns why a checkpoint cannot be written, apart from the run's own record: a child's id is taken, or a
// job's claim is void.
func (m *memory) writable(run string, cp *backend.Checkpoint) error {
	for i := range cp.Children {
		id := cp.Children[i].ID
		taken := func(c storage.Run) bool { return c.ID == id }
		if id == run || m.runs[id] != nil || slices.ContainsFunc(cp.Children[:i], taken) {
			return fmt.Errorf("%w: run %q", storage.ErrExists, id)
		}
		if err := m.childKeyFree(run, cp, i); err != nil {
			return err
		}
	}
	if r := m.runs[run]; cp.TakeKey && r != nil {
		if err := m.keyFree(r.head.Key, run); err != nil {
			return err
		}
	}
	for i := range cp.Tokens {
		t, known := m.tokens[cp.Tokens[i].ID]
		if known && t.Run != cp.Tokens[i].Run && cp.Tokens[i].State == storage.TokenOpen {
			return fmt.Errorf("%w: token %q", storage.ErrExists, t.ID)
		}
	}
	for i := range cp.Used {
		if t, err := m.openToken(cp.Used[i].Token.ID); err != nil || t.Run != run || t.Take != cp.Used[i].Was {
			return storage.ErrTaken
		}
	}
	if cp.Job == nil {
		return nil
	}
	_, err := m.jobToEnd(run, cp.Job)
	return err
}

// apply writes a checkpoint that passed all checks. It cannot fail.
func (m *memory) apply(r *runRecord, cp *backend.Checkpoint) {
	m.applyHead(r, cp)
	if cp.Head.State.Ended() {
		m.releaseKey(r)
	} else if cp.TakeKey {
		m.takeKey(r)
	}
	for key, value := range cp.Labels {
		r.label(key, value)
	}
	for i := range cp.Payloads {
		r.payloads = append(r.payloads, cp.Payloads[i].Data)
	}
	for i := range cp.Atoms {
		m.scratch = codec.AppendAtom(m.scratch[:0], &cp.Atoms[i])
		r.atoms.put(cp.Atoms[i].Path, m.scratch)
	}
	for _, path := range cp.Forget {
		r.atoms.forget(path)
	}
	r.remember(cp.History)
	m.audit.commanded(r, cp)
	r.undo = r.undo[:len(r.undo)-cp.Pop]
	for i := range cp.Push {
		r.undo = append(r.undo, cp.Push[i].Path)
	}
	for i := range cp.Timers {
		r.setTimer(cp.Timers[i])
	}
	for i := range cp.Used {
		m.setToken(r, cp.Used[i].Token)
	}
	for i := range cp.Tokens {
		m.setToken(r, cp.Tokens[i])
	}
	for _, id := range cp.GiveUp {
		if t, err := m.openToken(id); err == nil && t.Run == r.head.ID {
			t.GiveUp = true
		}
	}
	if len(cp.Taken) > 0 {
		taken := slices.Sorted(slices.Values(cp.Taken)) // sorted, because there may be very many
		r.messages = slices.DeleteFunc(r.messages,
			func(l storage.Message) bool { _, is := slices.BinarySearch(taken, l.N); return is })
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
		m.send(cp.Messages[i])
	}
	if cp.Job != nil {
		if j, _ := m.jobToEnd(r.head.ID, cp.Job); j != nil {
			m.endJob(j, cp.Job)
		}
	}
	m.hub.Committed(r.head.ID, cp)
}

// label sets or deletes a label.
func (r *runRecord) label(key, value string) {
	labels := maps.Clone(r.head.Labels) // snapshots share the old map
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	if value == "" {
		delete(labels, key)
	}
	r.head.Labels = labels
}

func (m *memory) applyHead(r *runRecord, cp *backend.Checkpoint) {
	h, run := &cp.Head, &r.head
	run.Seq++
	run.State, run.Outcome, run.Undo, run.Hold = h.State, h.Outcome, h.Undo, h.Hold
	run.Failure = rules.CopyFailure(h.Failure)
	run.Output = stored(h.Output)
	if cp.Input != nil {
		run.Input = stored(*cp.Input)
	}
	if cp.Structure != "" {
		run.Structure = cp.Structure
	}
	if h.Memory != nil {
		run.Memory = h.Memory
	}
	run.Started, run.Ended, run.Updated = h.Started, h.Ended, h.Time
	if h.Absolve {
		run.Lost, run.CrashLoop = 0, storage.CrashLoop{}
	}
	run.Entries, run.Events, run.Refs, run.Growth = h.Entries, h.Events, h.Refs, h.Growth
	run.Undos += int64(len(cp.Push) - cp.Pop)
	if h.Release {
		run.Owner, run.Due = "", h.Due
		run.CrashLoop.Isolation &^= storage.Isolated
		if run.Wakeups != h.Wakeups {
			run.Due = time.Now()
		}
		m.wants(r)
		m.notify()
	}
}

// firstRows is the initial size in bytes of a chunk of history: enough for the entries of a few atoms.
const firstRows = 256

// remember appends entries to the history.
func (r *runRecord) remember(entries []storage.Entry) {
	if len(entries) == 0 {
		return
	}
	last := len(r.history) - 1
	if last < 0 || len(r.history[last].rows) >= chunkSize {
		r.history = append(r.history, historyChunk{first: entries[0].Seq, rows: make([]byte, 0, firstRows)})
		last++
	}
	r.history[last].rows, r.history[last].last = codec.AppendHistory(r.history[last].rows, entries), r.head.Events
}

func (r *runRecord) setTimer(t storage.TimerRow) {
	t.Run = r.head.ID
	r.timers = slices.DeleteFunc(r.timers, func(o storage.TimerRow) bool { return o.Path == t.Path && o.Kind == t.Kind })
	if !t.Due.IsZero() {
		r.timers = append(r.timers, t)
	}
}

// create adds a run that does not exist.
func (m *memory) create(run storage.Run) *runRecord {
	r := newRun(run)
	m.made++
	r.head.Number = m.made
	m.runs[run.ID] = r
	m.order = append(m.order, r)
	m.takeKey(r)
	m.bear(run.Root)
	m.wants(r)
	m.notify()
	return r
}

func cloneSecrets(s storage.Secrets) storage.Secrets {
	return storage.Secrets{Symbols: slices.Clone(s.Symbols), Atoms: slices.Clone(s.Atoms)}
}
