package storagetest

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage"
)

// fencing is the number of checkpoints of the race, and how many of them must be refused at least. With fewer, the race
// would prove nothing.
func fencing() (checkpoints, refused int) {
	return longtest.Count(300, 2000, 100_000), longtest.Count(10, 50, 1000)
}

// A contested run is taken from its owners repeatedly, without notice.
type contested struct {
	id string

	taking sync.Mutex
	owner  backend.Store
	claim  backend.Claim

	mu   sync.Mutex
	acks map[int64]int64 // acknowledged commits, by their fence
}

// testFencing lets eight workers under two owners take three runs from each other, and continue to write to runs that
// they lost. The store has no write of a former owner, and every acknowledged write.
func testFencing(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	runs := make([]*contested, 3)
	for i := range runs {
		runs[i] = &contested{id: "run" + strconv.Itoa(i), acks: map[int64]int64{}}
		create(t, s, run(runs[i].id))
	}
	count := fenceCount{}
	count.checkpoints, count.refused = fencing()
	race(8, func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), 1)) //nolint:gosec // only selects the next run
		for count.more() && !t.Failed() {
			runs[rng.IntN(len(runs))].contest(t, stores[i%2], &count, 1+rng.IntN(20))
		}
	})
	for _, c := range runs {
		c.expect(t, s)
	}
	t.Logf("%d checkpoints, %d refused", count.made, count.fenced)
}

// A fenceCount counts the results of a race.
type fenceCount struct {
	checkpoints, refused int

	mu           sync.Mutex
	made, fenced int
}

func (c *fenceCount) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made < c.checkpoints || c.fenced < c.refused
}

func (c *fenceCount) add(fenced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fenced {
		c.fenced++
	} else {
		c.made++
	}
}

// contest takes the run from its present owner, if any. It then makes the given number of commits, or fewer if another
// worker takes the run.
func (c *contested) contest(t *testing.T, by backend.Store, count *fenceCount, commits int) {
	t.Helper()
	p := c.take(t, by)
	if p == nil {
		return
	}
	for range commits {
		fence := p.claim.Fence
		err := p.commit(t.Context(), p.next(backend.Checkpoint{
			Atoms:   []storage.Atom{{Path: "x", Live: true, Attempt: int(fence)}},
			History: []storage.Entry{{Path: strconv.FormatInt(fence, 10)}},
		}))
		if err != nil && !errors.Is(err, storage.ErrFenced) {
			t.Errorf("Commit: %v", err)
			return
		}
		count.add(err != nil)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.acks[fence]++
		c.mu.Unlock()
	}
}

// take releases the run in the name of its owner, without telling the owner, and begins
// the run.
func (c *contested) take(t *testing.T, by backend.Store) *pen {
	t.Helper()
	c.taking.Lock()
	defer c.taking.Unlock()
	if c.owner != nil {
		if err := c.owner.Release(t.Context(), c.claim, 0, time.Time{}); err != nil {
			t.Errorf("Release: %v", err)
			return nil
		}
	}
	claim, snap, err := by.Begin(t.Context(), c.id)
	if err != nil {
		t.Errorf("Begin: %v", err)
		return nil
	}
	c.owner, c.claim = by, claim
	return &pen{store: by, claim: claim, snap: snap, head: headOf(&snap.Run), undos: snap.Run.Undos}
}

// expect compares the stored records with the acknowledged commits.
func (c *contested) expect(t *testing.T, s backend.Store) {
	t.Helper()
	got := map[int64]int64{}
	last := int64(0)
	for _, e := range ask[[]storage.Entry](t, "History")(s.History(t.Context(), c.id, 0, 0)) {
		fence, err := strconv.ParseInt(e.Path, 10, 64)
		must(t, "the fence of a line", err)
		if fence < last {
			t.Errorf("%s: the owner of fence %d wrote after that of %d", c.id, fence, last)
		}
		last = fence
		got[fence]++
	}
	same(t, c.id+": commits by fence", c.acks, got)
	r := load(t, s, c.id)
	atom := ask[storage.Atom](t, "Atom")(s.Atom(t.Context(), c.id, "x"))
	if r.Seq != r.Entries || int64(atom.Attempt) != last {
		t.Errorf("%s: seq %d, %d lines, the atom is of fence %d and the last line of %d", c.id, r.Seq, r.Entries,
			atom.Attempt, last)
	}
}
