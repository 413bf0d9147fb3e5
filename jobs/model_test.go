package jobs_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// policy has times in whole seconds, like the model's clock.
var policy = jobs.Policy{Lease: 10 * time.Second, Attempts: 3, Backoff: atom.Constant(5 * time.Second)}

// modelJob is the model's state of a job.
type modelJob struct {
	id       string
	n        int
	priority int
	state    states.Job
	due      time.Time // while scheduled
	until    time.Time // while claimed: end of its lease
	attempts int
	claims   int // number of attempts so far
}

func (j *modelJob) free(now time.Time) bool {
	return j.state == states.JobUnclaimed || j.state == states.JobScheduled && !j.due.After(now) ||
		j.state == states.JobClaimed && j.until.Before(now)
}

// A held claim is one that a claimant got, perhaps long ago.
type held struct {
	board *jobs.Board
	claim jobs.Claim
	nth   int // number of the claim of its job
}

// A model plays claimants that claim, renew, sleep through their leases, steal, finish, release and park. It computes
// the expected results.
type model struct {
	boards []*jobs.Board
	jobs   map[string]*modelJob
	held   []held
}

func (m *model) post(t *rapid.T) {
	j := &modelJob{id: fmt.Sprintf("j%d", len(m.jobs)), n: len(m.jobs), priority: rapid.IntRange(0, 2).Draw(t, "priority")}
	p := jobs.Job{ID: j.id, Flow: "f", Priority: j.priority}
	if later := rapid.IntRange(-3, 20).Draw(t, "later"); later > 0 {
		j.state, j.due = states.JobScheduled, time.Now().Add(time.Duration(later)*time.Second)
		p.NotBefore = j.due
	}
	if _, err := m.board(t).Post(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	m.jobs[j.id] = j
}

func (m *model) board(t *rapid.T) *jobs.Board { return rapid.SampledFrom(m.boards).Draw(t, "board") }

// claimable returns the free jobs, in the order of claiming.
func (m *model) claimable() (list []*modelJob) {
	for _, j := range m.jobs {
		if j.free(time.Now()) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *modelJob) int { return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.n, b.n)) })
	return list
}

func (m *model) claim(t *rapid.T) {
	b, limit := m.board(t), rapid.IntRange(1, 3).Draw(t, "limit")
	var want []string
	for _, j := range m.claimable() {
		if len(want) == limit {
			break
		}
		j.attempts++
		j.claims++
		if j.attempts > policy.Attempts {
			j.state = states.JobParked
			continue
		}
		j.state, j.until = states.JobClaimed, time.Now().Add(policy.Lease)
		want = append(want, j.id)
	}
	got, err := b.Claim(t.Context(), jobs.ClaimQuery{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	var gotIDs []string
	for _, c := range got {
		gotIDs = append(gotIDs, c.Job.ID)
		m.held = append(m.held, held{b, c, m.jobs[c.Job.ID].claims})
		if j := m.jobs[c.Job.ID]; c.Job.Attempts != j.attempts || c.Job.Epoch != int64(j.claims) {
			t.Fatalf("claimed %+v, want attempt %d, epoch %d", c.Job, j.attempts, j.claims)
		}
	}
	if !slices.Equal(gotIDs, want) {
		t.Fatalf("claimed %q, want %q", gotIDs, want)
	}
}

// use makes a call under a claim. The model says whether the claim is lost.
func (m *model) use(t *rapid.T, do func(h *held, j *modelJob) (then func(), err error)) {
	if len(m.held) == 0 {
		t.Skip("nobody has claimed anything")
	}
	h := &m.held[rapid.IntRange(0, len(m.held)-1).Draw(t, "claim")]
	j := m.jobs[h.claim.Job.ID]
	valid := j.state == states.JobClaimed && j.claims == h.nth
	then, err := do(h, j)
	switch {
	case valid && err != nil, !valid && !errors.Is(err, storage.ErrFenced):
		t.Fatalf("claim %d of %s, valid %t: %v", h.nth, j.id, valid, err)
	case valid:
		then()
	}
}

func (m *model) retry(t *rapid.T) {
	m.use(t, func(h *held, j *modelJob) (func(), error) {
		return func() {
			j.state, j.due = states.JobScheduled, time.Now().Add(5*time.Second)
			if j.attempts >= policy.Attempts {
				j.state = states.JobParked
			}
		}, h.board.Retry(t.Context(), h.claim, &atom.Failure{Code: "Busy"})
	})
}

func (m *model) release(t *rapid.T) {
	if len(m.jobs) == 0 {
		t.Skip("there are no jobs")
	}
	id := fmt.Sprintf("j%d", rapid.IntRange(0, len(m.jobs)-1).Draw(t, "job"))
	j := m.jobs[id]
	err := m.board(t).Release(t.Context(), id)
	can := j.state == states.JobParked || j.state == states.JobScheduled
	if may := j.state == states.JobScheduled && j.free(time.Now()); can != (err == nil) && !may { // it may be unclaimed already
		t.Fatalf("Release of a job that is %v: %v", j.state, err)
	}
	if err == nil {
		j.state, j.attempts = states.JobUnclaimed, 0
	}
}

func (m *model) sleep(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
}

// TestModel: for any calls of claimants, a job has one claimant at a time, claims follow the order of the board, and a
// lost claim changes nothing.
//
// Guarantee (Jobs): A job has one claimant at a time. One that lost its claim changes nothing.
// Also: `TestSQLite`.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			records := memstore.New()
			m := &model{jobs: map[string]*modelJob{}}
			for _, s := range []backend.Store{records, records.Join(), records.Join()} {
				m.boards = append(m.boards, jobs.New(s, policy))
			}
			t.Repeat(map[string]func(*rapid.T){
				"post": m.post, "claim": m.claim, "claim more": m.claim, "retry": m.retry,
				"release": m.release, "sleep": m.sleep,
			})
		})
	})
}
