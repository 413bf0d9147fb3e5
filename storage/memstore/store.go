package memstore

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/waiting"
)

// A Store keeps runs in memory. It behaves like a store on a database, but nothing outlives the process. It copies
// every record that it receives or returns, so a caller may change its own copy.
type Store struct {
	backend.Store

	own *store
}

// New returns an empty store in memory.
func New() *Store { return public(newMemory().join()) }

// Join returns another store on the same records with an owner of its own, as another process on a database would
// have. Closing one of the stores does not close the others.
func (s *Store) Join() *Store { return public(s.own.join()) }

// Die closes the store as the death of its process would: its runs have the state of their last commit, and their
// owner counts as dead. Tests use it in place of kill -9.
func (s *Store) Die() { s.own.die() }

func public(s *store) *Store { return &Store{Store: s, own: s} }

// A store is one owner of the records. It keeps records encoded, and values larger than [backend.InlineLimit] once.
type store struct {
	*memory
	owner  storage.Owner
	closed bool // guarded by memory.mu
}

// memory contains the records, which all owners share.
type memory struct {
	id        string
	mu        sync.Mutex
	owners    []*store
	runs      map[string]*runRecord
	order     []*runRecord      // in the order of creation
	made      int64             // number of runs created so far
	keys      map[string]string // id of the run that holds each key
	families  map[string]*family
	tokens    map[string]*storage.Token
	queues    map[string][]string // ids of open tokens that no worker has taken, by queue, oldest first
	jobs      map[string]*storage.Job
	board     []*storage.Job // jobs that have not ended, in the order of claiming
	posted    int64          // number of jobs posted so far
	defs      definitions
	records   namedRecords
	audit     audit
	schedules map[string]*backend.Schedule
	outbox    []storage.Outgoing // in the order of their numbers
	sent      int64              // number of the last message added to the outbox
	waiting   chan struct{}      // nil if no goroutine waits
	version   int64              // see Store.Version: number of calls of notify
	arrivals  arrivalLog
	due       dueHeap
	hub       *waiting.Hub
	limits    []storage.Limit
	rated     []ratedClaim
	deaths    int64  // number of owners that died
	scratch   []byte // buffer for encoding
}

func newMemory() *memory {
	m := &memory{
		id:     uuid.NewString(),
		runs:   map[string]*runRecord{},
		tokens: map[string]*storage.Token{},
		jobs:   map[string]*storage.Job{},
		defs: definitions{
			byHash: map[string]storage.Definition{}, latest: map[string]int64{}, languages: map[string][]string{},
		},

		records: namedRecords{kinds: map[string]map[string]storage.NamedRecord{}},

		families:  map[string]*family{},
		schedules: map[string]*backend.Schedule{},
	}
	m.hub = waiting.New(m)
	return m
}

func (m *memory) join() *store {
	host, _ := os.Hostname() // "" if the system does not report it
	now := time.Now()
	s := &store{memory: m, owner: storage.Owner{
		ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true,
	}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners = append(m.owners, s)
	return s
}

// Now implements [backend.Lists.Now].
func (*store) Now() time.Time { return time.Now() }

// enter begins a call. It locks the store, or returns an error.
func (m *store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return storage.ErrClosed
	}
	return nil
}

// enterChange begins a call that may commit something beside a change, see [backend.Beside].
func (m *store) enterChange(ctx context.Context) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	err := m.checkBeside(ctx)
	if err != nil {
		m.mu.Unlock()
	}
	return err
}

// Owner implements [backend.Owners.Owner].
func (m *store) Owner() storage.Owner { return m.owner }

// Database implements [backend.Owners.Database]. It returns an id of the records, which stores from [Store.Join] share.
func (m *store) Database() string { return m.id }

// Evictions implements [backend.Owners.Evictions]. It returns 0: the owner is alive as long as its store is open.
func (m *store) Evictions() int64 { return 0 }

// Owners implements [backend.Owners.Owners]. It returns the owners of all open stores on these records.
func (m *store) Owners(ctx context.Context) ([]storage.Owner, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	out := make([]storage.Owner, 0, len(m.owners))
	for _, s := range m.owners {
		owner := s.owner
		owner.Seen = time.Now()
		out = append(out, owner)
	}
	return out, nil
}

// OwnedRuns implements [backend.Owners.OwnedRuns].
func (m *store) OwnedRuns(ctx context.Context) (map[string]int, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	counts := map[string]int{}
	for _, r := range m.runs {
		if r.head.Owner != "" {
			counts[r.head.Owner]++
		}
	}
	return counts, nil
}

// ownerOf returns the owner with that id. The owner is alive, because only open stores own runs.
func (m *memory) ownerOf(id string) storage.Owner {
	for _, s := range m.owners {
		if s.owner.ID == id {
			return s.owner
		}
	}
	return storage.Owner{ID: id}
}

// Close implements [backend.Store.Close]. Further calls return [storage.ErrClosed].
func (m *store) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.close()
	}
	return nil
}

// close releases the claims of an open store.
func (m *store) close() {
	m.closed = true
	m.owners = slices.DeleteFunc(m.owners, func(s *store) bool { return s == m })
	now := time.Now()
	for _, r := range m.order {
		if r.head.Owner == m.owner.ID {
			r.head.Owner, r.head.Due = "", now
			r.head.CrashLoop.Isolation &^= storage.Isolated
			m.wants(r)
		}
	}
	for _, j := range m.board {
		if j.Owner == m.owner.ID {
			j.Lease = time.Time{}
		}
	}
	m.notify()
	m.hub.WakeAll()
}

// Changed implements [backend.Inbox.Changed].
func (m *store) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = make(chan struct{})
	}
	return m.waiting
}

// Version implements [backend.Inbox.Version].
func (m *store) Version() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version
}

// notify increments the version, and closes the channel of Changed.
func (m *memory) notify() {
	m.version++
	if m.waiting != nil {
		close(m.waiting)
		m.waiting = nil
	}
}
