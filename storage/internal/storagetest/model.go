package storagetest

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// testModel compares random calls with a model that is too simple to be wrong: plain records, neither encoded nor
// shared.
func testModel(t *testing.T, m Maker) {
	rapid.Check(t, func(rt *rapid.T) {
		s := m.Open(t)
		stores := []backend.Store{s, m.Join(t, s)}
		defer func() {
			for _, s := range stores {
				must(rt, "Close", s.Close())
			}
		}()
		w := &world{t: rt, stores: stores, runs: map[string]*modelRun{}, tokens: map[string]storage.Token{}}
		rt.Repeat(map[string]func(*rapid.T){
			"":         w.compare,
			"create":   w.create,
			"begin":    w.begin,
			"commit":   w.commit,
			"release":  w.release,
			"step":     w.step,
			"send":     w.send,
			"endToken": w.endToken,
			"stale":    w.stale,
			"purge":    w.purge,
			"restart":  w.restart(t, m),
		})
	})
}

type modelRun struct {
	everything
	keys  map[string]bool
	owner int // index of the store; valid while pen is not nil
	pen   *pen
	old   []backend.Claim
	due   bool // due without an owner, because of a message
}

// A world is the model beside the stores.
type world struct {
	t      *rapid.T
	stores []backend.Store
	runs   map[string]*modelRun
	tokens map[string]storage.Token
	made   int
}

func (w *world) some(rt *rapid.T) *modelRun {
	if len(w.runs) == 0 {
		rt.Skip("no run")
	}
	ids := slices.Sorted(maps.Keys(w.runs))
	return w.runs[rapid.SampledFrom(ids).Draw(rt, "run")]
}

func (w *world) any(rt *rapid.T) backend.Store { return rapid.SampledFrom(w.stores).Draw(rt, "store") }

func (w *world) create(rt *rapid.T) {
	r := run(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id"))
	i := rapid.IntRange(0, 1).Draw(rt, "by")
	if rapid.Bool().Draw(rt, "begins") {
		w.createBegun(rt, r, i)
		return
	}
	err := w.stores[i].Create(w.t.Context(), r)
	if w.runs[r.ID] != nil {
		want(w.t, "Create", err, storage.ErrExists)
		return
	}
	must(w.t, "Create", err)
	r.Updated = r.Created
	w.runs[r.ID] = &modelRun{everything: everything{Run: r}, keys: map[string]bool{}}
}

// createBegun creates a run with its first checkpoint.
func (w *world) createBegun(rt *rapid.T, r storage.Run, by int) {
	p := newRun(w.t, w.stores[by], r)
	if w.runs[r.ID] != nil {
		want(w.t, "Commit of a new run that is there", p.commit(w.t.Context(), p.next(backend.Checkpoint{})),
			storage.ErrExists)
		return
	}
	r.Updated = r.Created
	made := &modelRun{everything: everything{Run: r}, keys: map[string]bool{}}
	same(w.t, "snapshot", r, p.snap.Run)
	cp := p.next(w.checkpoint(rt, made))
	if cp.Head.Release = rapid.Bool().Draw(rt, "release"); cp.Head.Release {
		cp.Head.Due = at(rapid.IntRange(0, 100).Draw(rt, "due"))
	}
	must(w.t, "Commit of a new run", p.commit(w.t.Context(), cp))
	w.runs[r.ID] = made
	w.applied(made, cp)
	made.Run.Fence, made.Run.ClaimID = 1, p.claim.ID
	if cp.Head.Release {
		made.Run.Due = cp.Head.Due
	} else {
		made.Run.Owner, made.pen, made.owner = p.store.Owner().ID, p, by
	}
	if rapid.Bool().Draw(rt, "again") {
		must(w.t, "Commit again", p.store.Commit(w.t.Context(), p.claim, cp))
	}
}

func (w *world) begin(rt *rapid.T) {
	r := w.some(rt)
	i := rapid.IntRange(0, 1).Draw(rt, "by")
	claim, snap, err := w.stores[i].Begin(w.t.Context(), r.Run.ID)
	if r.pen != nil {
		var owned *storage.OwnedError
		if !errors.As(err, &owned) || owned.Owner.ID != w.stores[r.owner].Owner().ID {
			rt.Fatalf("Begin of an owned run: %v", err)
		}
		return
	}
	must(w.t, "Begin", err)
	w.begun(rt, r, i, claim, snap)
}

// begun changes the model as the start of a run does.
func (w *world) begun(rt *rapid.T, r *modelRun, i int, claim backend.Claim, snap *backend.Snapshot) {
	r.Run.Fence++
	if claim.Fence != r.Run.Fence {
		rt.Fatalf("fence is %d, want %d", claim.Fence, r.Run.Fence)
	}
	r.Run.Owner, r.Run.ClaimID, r.Run.Due = w.stores[i].Owner().ID, claim.ID, time.Time{}
	r.due = false
	r.pen = &pen{store: w.stores[i], claim: claim, snap: snap, head: headOf(&r.Run), undos: r.Run.Undos}
	r.owner = i
	same(w.t, "snapshot", r.Run, snap.Run)
	var live []storage.Atom
	for _, a := range r.Atoms {
		if a.Live {
			live = append(live, a)
		}
	}
	same(w.t, "live atoms", live, snap.Atoms)
	w.sameMessages(r.Messages, snap.Messages)
	open := map[string]storage.Token{}
	for id, t := range w.tokens {
		if t.Run == r.Run.ID && t.State == storage.TokenOpen {
			open[id] = t
		}
	}
	got := map[string]storage.Token{}
	for _, t := range snap.Tokens {
		got[t.ID] = t
	}
	same(w.t, "open tokens", open, got)
}

// sameMessages compares messages except for their times.
func (w *world) sameMessages(want, got []storage.Message) {
	got = slices.Clone(got)
	for i := range got {
		got[i].Sent = time.Time{}
	}
	same(w.t, "messages", want, got)
}

func (w *world) release(rt *rapid.T) {
	r := w.some(rt)
	if r.pen == nil {
		rt.Skip("not owned")
	}
	wakeups := r.Run.Wakeups - int64(rapid.IntRange(0, 1).Draw(rt, "behind"))
	err := r.pen.store.Release(w.t.Context(), r.pen.claim, wakeups, at(5))
	if wakeups != r.Run.Wakeups {
		want(w.t, "Release", err, storage.ErrNewMessages)
		return
	}
	must(w.t, "Release", err)
	w.gone(r, at(5))
}

// gone removes the run's owner.
func (w *world) gone(r *modelRun, due time.Time) {
	r.old = append(r.old, r.pen.claim)
	r.pen, r.Run.Owner, r.Run.Due = nil, "", due
}

func (w *world) send(rt *rapid.T) {
	r := w.some(rt)
	l := storage.Message{Run: r.Run.ID, Kind: "signal", Key: rapid.SampledFrom([]string{"", "k", "l"}).Draw(rt, "key")}
	err := w.any(rt).Send(w.t.Context(), l)
	if r.Run.State.Ended() && (l.Key == "" || !r.keys[l.Key]) {
		want(w.t, "Send", err, storage.ErrEnded)
		return
	}
	must(w.t, "Send", err)
	w.delivered(r, l)
}

func (w *world) delivered(r *modelRun, l storage.Message) {
	if l.Key != "" && r.keys[l.Key] {
		return
	}
	r.keys[l.Key] = true
	r.Run.Wakeups++
	l.N = r.Run.Wakeups
	r.Messages = append(r.Messages, l)
	if r.pen == nil && (r.Run.Due.IsZero() || r.Run.Due.After(time.Now())) {
		r.due = true
	}
}

func (w *world) endToken(rt *rapid.T) {
	if len(w.tokens) == 0 {
		rt.Skip("no token")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(w.tokens))).Draw(rt, "token")
	t := w.tokens[id]
	_, err := w.any(rt).EndToken(w.t.Context(), id, storage.TokenEnd{Result: value("done")})
	if t.State != storage.TokenOpen {
		want(w.t, "EndToken", err, storage.ErrGone)
		return
	}
	must(w.t, "EndToken", err)
	t.State, t.Result = storage.TokenCompleted, value("done")
	w.tokens[id] = t
	w.delivered(w.runs[t.Run], rules.EndedMessage(&t, nil))
}

// stale commits and releases under a void claim.
func (w *world) stale(rt *rapid.T) {
	r := w.some(rt)
	if len(r.old) == 0 || r.Run.Fence == r.old[len(r.old)-1].Fence {
		rt.Skip("no claim was lost to another")
	}
	claim := rapid.SampledFrom(r.old).Draw(rt, "claim")
	p := &pen{claim: claim, head: headOf(&r.Run), undos: r.Run.Undos}
	cp := p.next(backend.Checkpoint{Atoms: []storage.Atom{{Path: "stale"}}})
	want(w.t, "Commit", w.any(rt).Commit(w.t.Context(), claim, cp), storage.ErrFenced)
	want(w.t, "Release", w.any(rt).Release(w.t.Context(), claim, r.Run.Wakeups, at(1)), storage.ErrFenced)
}

func (w *world) purge(rt *rapid.T) {
	r := w.some(rt)
	n := 0
	if r.Run.State.Ended() && r.pen == nil {
		n = 1
	}
	got := ask[int](w.t, "Purge")(w.any(rt).Purge(w.t.Context(), r.Run.ID))
	if got != n {
		rt.Fatalf("purged %d, want %d", got, n)
	}
	if n == 1 {
		delete(w.runs, r.Run.ID)
		maps.DeleteFunc(w.tokens, func(_ string, t storage.Token) bool { return t.Run == r.Run.ID })
	}
}

// restart closes one of the stores and opens it again. Its runs are free.
func (w *world) restart(tb testing.TB, m Maker) func(*rapid.T) {
	return func(rt *rapid.T) {
		if rapid.IntRange(0, 9).Draw(rt, "chance") > 0 {
			rt.Skip("not now")
		}
		i := rapid.IntRange(0, 1).Draw(rt, "store")
		must(w.t, "Close", w.stores[i].Close())
		for _, r := range w.runs {
			if r.pen != nil && r.owner == i {
				w.gone(r, time.Time{})
				r.due = true
			}
		}
		w.stores[i] = m.Join(tb, w.stores[1-i])
	}
}

// compare compares everything.
func (w *world) compare(rt *rapid.T) {
	for id, r := range w.runs {
		got := contents(w.t, w.stores[len(id)%2], id)
		w.sameMessages(r.Messages, got.Messages)
		expect := r.everything
		expect.Messages, expect.Run.Number = got.Messages, got.Run.Number
		if r.due {
			if got.Run.Due.IsZero() || got.Run.Due.After(time.Now()) {
				rt.Fatalf("run %s ought to be due, but is at %v", id, got.Run.Due)
			}
			expect.Run.Due = got.Run.Due
			r.Run.Due = got.Run.Due
		}
		same(w.t, "run "+id, expect.filled(), got.filled())
	}
	for id, t := range w.tokens {
		same(w.t, "token "+id, t, ask[storage.Token](w.t, "Token")(w.stores[0].Token(w.t.Context(), id)))
	}
}
