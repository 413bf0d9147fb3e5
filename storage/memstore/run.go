package memstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
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
	r := &runRecord{head: run.New()}
	if r.head.Input.Ref != 0 {
		r.payloads = []atom.Value{r.head.Input.Data}
		r.head.Input = storage.Held{Ref: 1}
	}
	return r
}

// payload implements codec.Payloads.
func (r *runRecord) payload(ref int64) (atom.Value, error) {
	if ref < 1 || ref > int64(len(r.payloads)) {
		return nil, fmt.Errorf("%w: run %q has no payload %d", storage.ErrCorrupt, r.head.ID, ref)
	}
	return r.payloads[ref-1], nil
}

// stored returns h without the data of a payload.
func stored(h storage.Held) storage.Held {
	if h.Ref != 0 {
		h.Data = nil
	}
	return h
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
func (m *memory) snapshot(r *runRecord) (*storage.Snapshot, error) {
	atoms, err := r.listAtoms(storage.AtomQuery{Live: true})
	if err != nil {
		return nil, err
	}
	s := &storage.Snapshot{
		Run: r.record(), Atoms: atoms, Messages: r.listMessages(0, len(r.messages)),
		Timers: r.listTimers(),
	}
	for _, id := range r.open {
		s.Tokens = append(s.Tokens, m.token(id))
	}
	return s, nil
}

// writable returns why a checkpoint cannot be written, apart from the run's own record: a child's id is taken, or a
// job's claim is void.
func (m *memory) writable(run string, cp *storage.Checkpoint) error {
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
func (m *memory) apply(r *runRecord, cp *storage.Checkpoint) {
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

func (m *memory) applyHead(r *runRecord, cp *storage.Checkpoint) {
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
		run.Lost, run.Suspicion = 0, storage.Suspicion{}
	}
	run.Entries, run.Events, run.Refs, run.Growth = h.Entries, h.Events, h.Refs, h.Growth
	run.Undos += int64(len(cp.Push) - cp.Pop)
	if h.Release {
		run.Owner, run.Due = "", h.Due
		run.Suspicion.Trial &^= storage.OnTrial
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
