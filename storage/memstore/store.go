package memstore

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/storage"
)

// A Store keeps runs in memory, with the semantics of a database but
// nothing that outlives the process. Records are kept encoded, so what a caller
// does to a record it passed or was given changes nothing here; values above
// [storage.InlineLimit] are kept once.
type Store struct {
	*memory
	owner  storage.Owner
	closed bool // guarded by memory.mu
}

// memory is what all owners of the same records share.
type memory struct {
	id        string
	mu        sync.Mutex
	owners    []*Store
	runs      map[string]*runRecord
	order     []*runRecord // by creation
	made      int64        // runs so far
	families  map[string]*family
	tokens    map[string]*storage.Token
	queues    map[string][]string // open tokens that no worker took, by queue, oldest first
	jobs      map[string]*jobRecord
	board     []*jobRecord // those that have not ended, in the order of claiming
	posted    int64        // jobs so far
	defs      map[string]storage.Definition
	schedules map[string]*storage.Schedule
	latest    map[string]int64   // version of each name of a definition
	outbox    []storage.Outgoing // by number
	sent      int64              // numbers given out in the outbox
	waiting   chan struct{}      // nil when no goroutine waits
	version   int64              // see Store.Version: how often notify was called
	arrivals  arrivalLog
	due       dueHeap
	limits    []storage.Limit
	rated     []ratedClaim
	deaths    int64  // owners that died
	scratch   []byte // for encoding
}

var _ storage.Store = (*Store)(nil)

// New returns an empty store in memory.
func New() *Store {
	m := &memory{
		id:     uuid.NewString(),
		runs:   map[string]*runRecord{},
		tokens: map[string]*storage.Token{},
		jobs:   map[string]*jobRecord{},
		defs:   map[string]storage.Definition{},
		latest: map[string]int64{},

		families:  map[string]*family{},
		schedules: map[string]*storage.Schedule{},
	}
	return m.join()
}

// Join returns a store on the same records with an owner of its own, as another
// process on a database would have. Closing one closes only that one.
func (m *Store) Join() *Store { return m.join() }

func (m *memory) join() *Store {
	host, _ := os.Hostname() // "" where the system does not say
	now := time.Now()
	s := &Store{memory: m, owner: storage.Owner{
		ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true,
	}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners = append(m.owners, s)
	return s
}

// enter begins a call: it returns an error, or the store is locked.
func (m *Store) enter(ctx context.Context) error {
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

// Owner returns the owner of this store's claims.
func (m *Store) Owner() storage.Owner { return m.owner }

// Database returns an id of the records, which stores made by [Store.Join] share.
func (m *Store) Database() string { return m.id }

// Evictions returns 0: the owner lives as long as its store is open.
func (m *Store) Evictions() int64 { return 0 }

// Owners returns the owners of all stores on these records that are open.
func (m *Store) Owners(ctx context.Context) ([]storage.Owner, error) {
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

// ownerOf returns the owner of that id. The owner is alive, because only open stores own
// anything.
func (m *memory) ownerOf(id string) storage.Owner {
	for _, s := range m.owners {
		if s.owner.ID == id {
			return s.owner
		}
	}
	return storage.Owner{ID: id}
}

// Close gives up this store's claims: its runs are due at once. Further calls
// return [storage.ErrClosed].
func (m *Store) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.close()
	}
	return nil
}

// close gives up the store's claims. It is open.
func (m *Store) close() {
	m.closed = true
	m.owners = slices.DeleteFunc(m.owners, func(s *Store) bool { return s == m })
	now := time.Now()
	for _, r := range m.order {
		if r.head.Owner == m.owner.ID {
			r.head.Owner, r.head.Due = "", now
			r.head.Suspicion.Trial &^= storage.OnTrial
			m.wants(r)
		}
	}
	for _, j := range m.board {
		if j.Owner == m.owner.ID {
			j.Lease = time.Time{}
		}
	}
	m.notify()
}

// Changed returns a channel that is closed when something may have come.
func (m *Store) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = make(chan struct{})
	}
	return m.waiting
}

// Version returns how often something may have come.
func (m *Store) Version() int64 {
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
