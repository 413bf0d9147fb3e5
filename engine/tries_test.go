package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// polls is a flow of which only the last of many tries succeeds.
func polls(tries int, retry *atom.Atom, each func(n int), failure string) *flow.LinearFlow {
	n := 0
	return flow.Linear("poll", atom.Func("ask", func(context.Context, struct{}) (string, error) {
		n++
		each(n)
		if n < tries {
			return "", atom.Errorf("NotYet", "%s", failure)
		}
		return "there", nil
	})).WithRetry(retry)
}

// upTo returns the numbers from 1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// TestTriesAreLinear tries a flow often and four times as often. The bytes and rows for each try are the same.
func TestTriesAreLinear(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		retry   func(n int) *atom.Atom
		failure string
	}{
		"times":          {func(n int) *atom.Atom { return atom.Times(n, atom.Backoff{}) }, "not there yet"},
		"for each":       {func(n int) *atom.Atom { return atom.ForEach(upTo(n)...) }, "not there yet"},
		"large failures": {func(n int) *atom.Atom { return atom.Times(n, atom.Backoff{}) }, strings.Repeat("x", 3000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each := func(n int) (bytes, rows float64) {
				store, err := sqlstore.Open(t.Context(), filepath.Join(crashdisk.Careless(t), "ebb.db"))
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				}()
				before := store.Counts()
				eng := newEngine(t, polls(n, tc.retry(n), func(int) {}, tc.failure), engine.WithStore(store))
				if _, err := eng.Run(t.Context(), "r"); err != nil {
					t.Fatal(err)
				}
				c := store.Counts()
				return float64(c.Bytes-before.Bytes) / float64(n), float64(c.Rows-before.Rows) / float64(n)
			}
			bytes, rows := each(64)
			moreBytes, moreRows := each(256)
			t.Logf("%.0f B, %.1f rows a try; four times as many: %.0f B, %.1f rows", bytes, rows, moreBytes, moreRows)
			if moreBytes > 1.3*bytes || moreRows > 1.3*rows {
				t.Error("a try costs more the more there were")
			}
		})
	}
}

// A witness is a retry that gives up after the given number of tries, and compares the history that it is given with
// what happened.
type witness struct {
	tries   int
	failure func(try int) string
	forgets bool
	wrong   string // differences from what happened
}

// plain is the history of the given number of failed tries.
func (w *witness) plain(n int) atom.History {
	var h atom.History
	for i := 1; i <= n; i++ {
		failure := &atom.Failure{Atom: "ask", Code: "NotYet", Message: w.failure(i), Attempt: 1}
		h.Tries = append(h.Tries, atom.Try{Value: atom.MustEncode(i), Failures: []*atom.Failure{failure}})
	}
	return h
}

func (w *witness) compare(what string, h atom.History) {
	want := w.plain(h.Count())
	if w.forgets {
		want.Earlier, want.Tries = h.Earlier, want.Tries[h.Earlier:]
	}
	if diff := cmp.Diff(want, h); diff != "" && w.wrong == "" {
		w.wrong = fmt.Sprintf("%s sees another history (-want +got):\n%s", what, diff)
	}
}

func (w *witness) Next(h atom.History, _ atom.Values) (atom.Value, error) {
	w.compare("Next", h)
	return atom.Encode(h.Count() + 1)
}

func (w *witness) OnFailure(h atom.History, _ atom.Values) (atom.Decision, error) {
	w.compare("OnFailure", h)
	if h.Count() < w.tries {
		return atom.Decision{Verdict: atom.VerdictRetry}, nil
	}
	return atom.Decision{Verdict: atom.VerdictRevert}, nil
}

func (w *witness) Undo(_ context.Context, h atom.History, _ []*atom.Failure) error {
	w.compare("Undo", h)
	return nil
}

// forgetful is a witness that needs only the newest tries.
type forgetful struct{ *witness }

func (forgetful) Forgetful() {}

// TestTriesAnywhere tries a flow often, perhaps inside one that is retried, in processes that die at random commits.
// The retry always gets the true history, for any number of tries in its record.
func TestTriesAnywhere(t *testing.T) {
	records := map[string]func() (process func() backend.Store){
		"memory": func() func() backend.Store {
			m := memstore.New()
			return func() backend.Store { return m.Join() }
		},
		"sqlite": func() func() backend.Store {
			file := filepath.Join(crashdisk.Careless(t), "ebb.db")
			return func() backend.Store {
				s, err := sqlstore.Open(t.Context(), file)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
		},
	}
	for where, open := range records {
		t.Run(where, func(t *testing.T) {
			check(t, map[string]int{"memory": 60, "sqlite": 6}[where], func(rt *rapid.T) { triedAnywhere(t, rt, open()) })
		})
	}
}

func triedAnywhere(t *testing.T, rt *rapid.T, process func() backend.Store) {
	long := rapid.SliceOfN(rapid.SampledFrom([]int{0, 10, 1500, 5000}), 1, 5).Draw(rt, "lengths")
	w := &witness{
		tries: rapid.IntRange(1, 70).Draw(rt, "tries"), forgets: rapid.Bool().Draw(rt, "forgets"),
		failure: func(try int) string { return fmt.Sprint(try, strings.Repeat("x", long[try%len(long)])) },
	}
	rounds := rapid.IntRange(1, 3).Draw(rt, "rounds")
	succeeds := rapid.Bool().Draw(rt, "succeeds") // in the last try of the last round
	ask := func(_ context.Context, in struct {
		Round int `json:"round"`
		Try   int `json:"try"`
	},
	) (int, error) {
		if succeeds && in.Round == rounds && in.Try == w.tries {
			return in.Try, nil
		}
		return 0, atom.Errorf("NotYet", "%s", w.failure(in.Try))
	}
	var retry atom.Controller = w
	if w.forgets {
		retry = forgetful{w}
	}
	inner := flow.Linear("inner", atom.Func("ask", ask)).WithRetry(atom.Retry("witness", retry, atom.Provides("try")))
	root := flow.Linear("outer", inner).WithRetry(atom.Times(rounds, atom.Backoff{}).As("round"))
	deaths := rapid.SliceOfN(rapid.IntRange(0, 60), 0, 5).Draw(rt, "deaths")
	policy := rapid.SampledFrom([]engine.Checkpoints{engine.Step, engine.Each}).Draw(rt, "policy")
	for {
		store := process()
		under, mortals := store, len(deaths) > 0
		if mortals {
			under, deaths = dies(store, deaths[0]), deaths[1:]
		}
		eng := newEngine(t, root, engine.WithStore(under), engine.WithCheckpoints(policy))
		_, err := eng.Run(t.Context(), "r")
		if w.wrong != "" {
			rt.Fatal(w.wrong)
		}
		ended := !mortals || !errors.As(err, new(*engine.StoreError))
		if _, reverted := errors.AsType[*engine.RevertedError](err); ended && (reverted == succeeds || err == nil != succeeds) {
			rt.Fatalf("it ended with %v; succeeds: %v", err, succeeds)
		}
		if ended && succeeds {
			h, err := store.Tries(t.Context(), "r", "witness")
			want := w.plain(w.tries)
			want.Last().Failures = nil
			if diff := cmp.Diff(want, h); diff != "" || err != nil {
				rt.Fatalf("the store has another history (-want +got): %v\n%s", err, diff)
			}
		}
		if err := store.Close(); err != nil {
			rt.Fatal(err)
		}
		if ended {
			return
		}
	}
}

// TestTriesUnread: a process cannot read the tries that a retry needs. The run stops, and the next process ends it.
func TestTriesUnread(t *testing.T) {
	t.Parallel()
	m := memstore.New()
	root := polls(50, atom.ForEach(upTo(60)...), func(int) {}, "not there yet")
	for _, store := range []backend.Store{
		dies(m.Join(), 100),
		faultstore.New(m.Join(), faultstore.At("Tries", 1, faultstore.Disk)),
	} {
		_, err := newEngine(t, root, engine.WithStore(store)).Run(t.Context(), "r")
		if _, stopped := errors.AsType[*engine.StoreError](err); !stopped {
			t.Fatalf("it ended with %v", err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newEngine(t, root, engine.WithStore(m.Join())).Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
}

// TestTriesOfOlder resumes a run whose retry has many tries in its record, as earlier versions of Ebb stored them.
func TestTriesOfOlder(t *testing.T) {
	t.Parallel()
	m := memstore.New()
	root := polls(60, atom.ForEach(upTo(60)...), func(int) {}, "not there yet")
	process := m.Join()
	_, err := newEngine(t, root, engine.WithStore(dies(process, 100))).Run(t.Context(), "r")
	if _, died := errors.AsType[*engine.StoreError](err); !died {
		t.Fatalf("it ended with %v", err)
	}
	if err := process.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := m.Tries(t.Context(), "r", "poll_retry")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Step(t.Context(), "r", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		run := &snap.Run
		cp := backend.Checkpoint{Atoms: snap.Atoms, Head: backend.Head{
			Seq: run.Seq, State: run.State, Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs, Time: run.Updated,
		}}
		at := slices.IndexFunc(cp.Atoms, func(a storage.Atom) bool { return a.Kind == storage.KindRetry })
		if cp.Atoms[at].Overflow == 0 {
			t.Error("the record has all tries")
		}
		cp.Atoms[at].Tries, cp.Atoms[at].Overflow = &all, 0
		return &cp, nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := newEngine(t, root, engine.WithStore(m.Join())).Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	h, err := m.Tries(t.Context(), "r", "poll_retry")
	if err != nil || h.Count() < 50 || h.Tries[40].Value.String() != "41" {
		t.Errorf("%d tries in the end, %v", h.Count(), err)
	}
}

// TestScaleTries tries one flow very often. The heap is not larger late than early, unless the retry needs all tries.
func TestScaleTries(t *testing.T) {
	n := min(scale(t, 300), 100_000) // each is three commits
	for _, forgets := range []bool{true, false} {
		store, file := openScale(t)
		var (
			heaps     []string
			low, high int64
		)
		retry := atom.Times(n, atom.Backoff{})
		if !forgets {
			retry = atom.Retry("", struct{ atom.Controller }{retry.Controller()})
		}
		eng := newEngine(t, polls(n, retry, func(did int) {
			switch did {
			case n / 100, n / 10, n:
				heap := liveHeap()
				heaps = append(heaps, fmt.Sprintf("%.1f MiB after %d", float64(heap)/mib, did))
				if low == 0 || heap < low {
					low = heap
				}
				high = max(high, heap)
			}
		}, "the order is not there yet"), engine.WithStore(store))
		cpu, before := cpuTime(), store.Counts()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wrote := store.Counts()
		t.Logf("%d tries, by the newest alone %v: live heap %s; %.0f us of CPU, %.1f rows and %d B written a try, %d B on disk", n, forgets,
			strings.Join(heaps, ", "), float64((cpuTime()-cpu).Microseconds())/float64(n), float64(wrote.Rows-before.Rows)/float64(n),
			(wrote.Bytes-before.Bytes)/int64(n), sizeOf(t, file)/int64(n))
		if forgets && high-low > 2*mib {
			t.Errorf("the live heap grew by %d MiB", (high-low)/mib)
		}
	}
}
