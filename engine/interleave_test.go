package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A signalBox is on both sides of every call of the stores behind it. Each goroutine that arrives waits until the
// signalBox lets it pass. The signalBox lets one pass at a time, and only if no goroutine can do anything else. So the
// calls happen in the drawn order.
type signalBox struct {
	mu      sync.Mutex
	waiting []*waiting
	open    bool // all may pass

	moves   []string // which goroutine passed, and where
	choices int      // how often several were waiting
}

type waiting struct {
	who, where string
	since      int // move
	pass       chan struct{}
}

func (b *signalBox) wait(who, where string) {
	b.mu.Lock()
	if b.open {
		b.mu.Unlock()
		return
	}
	w := &waiting{who, where, len(b.moves), make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	<-w.pass
}

// next lets one goroutine pass, and returns whether there was one. order chooses the goroutine. After its end, next
// chooses the one that has waited longest.
func (b *signalBox) next(order []int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return false
	}
	slices.SortFunc(b.waiting, func(a, b *waiting) int {
		return cmp.Or(cmp.Compare(a.since, b.since), strings.Compare(a.who, b.who), strings.Compare(a.where, b.where))
	})
	i := 0
	if len(b.waiting) > 1 {
		if b.choices < len(order) {
			i = order[b.choices] % len(b.waiting)
		}
		b.choices++
	}
	w := b.waiting[i]
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.moves = append(b.moves, w.who+" "+w.where)
	close(w.pass)
	return true
}

func (b *signalBox) letAllPass() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = true
	for _, w := range b.waiting {
		close(w.pass)
	}
	b.waiting = nil
}

// boxed is a store behind a signal box.
type boxed struct {
	backend.Store
	box *signalBox
	who string
}

func (s *boxed) around(what string) func() {
	s.box.wait(s.who, "before "+what)
	return func() { s.box.wait(s.who, "after "+what) }
}

func (s *boxed) Begin(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	defer s.around("Begin")()
	return s.Store.Begin(ctx, run)
}

func (s *boxed) Seize(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	defer s.around("Seize")()
	return s.Store.Seize(ctx, run)
}

func (s *boxed) Due(ctx context.Context, q backend.DueQuery) ([]backend.Due, time.Time, error) {
	defer s.around("Due")()
	return s.Store.Due(ctx, q)
}

func (s *boxed) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	what := "Commit"
	if cp.Head.Release {
		what = "Commit that releases"
	}
	defer s.around(what)()
	return s.Store.Commit(ctx, c, cp)
}

func (s *boxed) Release(ctx context.Context, c backend.Claim, wakeups int64, due time.Time) error {
	defer s.around("Release")()
	return s.Store.Release(ctx, c, wakeups, due)
}

func (s *boxed) Send(ctx context.Context, messages ...storage.Message) error {
	defer s.around("Send")()
	return s.Store.Send(ctx, messages...)
}

func (s *boxed) EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error) {
	defer s.around("EndToken")()
	return s.Store.EndToken(ctx, id, end)
}

func (s *boxed) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	defer s.around("Messages")()
	return s.Store.Messages(ctx, run, after)
}

func (s *boxed) RunsWithMessages(ctx context.Context, since int64) ([]backend.Arrival, int64, error) {
	defer s.around("RunsWithMessages")()
	return s.Store.RunsWithMessages(ctx, since)
}

func (s *boxed) Changed() <-chan struct{} {
	defer s.around("Changed")()
	return s.Store.Changed()
}

// A meeting is the drawn case: the participants, and the order of their calls.
type meeting struct {
	runs    int
	servers int  // processes that serve
	driver  bool // a process that drives the runs without releasing them
	late    bool // a signal is sent only if the run may be waiting for it
	death   int  // at which move the first process dies; 0 is never
	order   []int
}

func anyMeeting(rt *rapid.T) *meeting {
	m := &meeting{
		runs:    rapid.IntRange(1, 2).Draw(rt, "runs"),
		servers: rapid.IntRange(1, 2).Draw(rt, "servers"),
		driver:  rapid.Bool().Draw(rt, "driver"),
		late:    rapid.Bool().Draw(rt, "late"),
		order:   rapid.SliceOfN(rapid.IntRange(0, 1<<10), 0, 200).Draw(rt, "order"),
	}
	if rapid.Bool().Draw(rt, "death") {
		m.death = rapid.IntRange(1, 120).Draw(rt, "at")
		m.servers++ // one server survives
	}
	return m
}

// TestNoWakeUpIsLost runs processes that serve or drive runs beside others that send signals and end tokens. Their
// store calls happen in any order, and a process may die in between. Nothing is lost: the runs end although no process
// polls. Nothing is done twice, also if several processes see that a timer is due. The test forces the order on both
// sides of each call, not of each statement within one. With -rapid.checks=1000 the one on SQLite forces it 100,000
// times.
//
// Guarantee (Waiting and time): Processes serve, send, complete tokens and die in any order: nothing is lost or done
// twice.
// Also: `storage/sqlstore: TestStore/RaceDue`, `TestStore/DueClaim`.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Run("memory", func(t *testing.T) { meetOften(t, 3000, meetInMemory) })
	t.Run("sqlite", func(t *testing.T) { meetOften(t, 100, meetOnDisk) })
}

// meetOften holds the given number of meetings.
func meetOften(t *testing.T, times int, in func(*testing.T, *meeting) *report) {
	choices := 0
	check(t, times, func(rt *rapid.T) {
		m := anyMeeting(rt)
		var r *report
		synctest.Test(t, func(t *testing.T) { r = in(t, m) })
		choices += r.choices
		if len(r.faults) > 0 {
			rt.Fatalf("%s\nin this order:\n%s", strings.Join(r.faults, "\n"), strings.Join(r.moves, "\n"))
		}
	})
	t.Logf("%d times it was forced who of several goes first", choices)
}

func meetInMemory(t *testing.T, m *meeting) *report {
	s := memstore.New()
	return m.hold(t, s, func() backend.Store { return s.Join() }, 0)
}

func meetOnDisk(t *testing.T, m *meeting) *report {
	dir := t.TempDir()
	crashdisk.Watch(t, dir) // for speed: it does not wait for the disk
	join := func() backend.Store {
		s, err := sqlstore.Open(t.Context(), filepath.Join(dir, "ebb.db"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const late = 50 * time.Millisecond // as Changed says
	return m.hold(t, join(), join, late)
}

// A report is the result of a meeting.
type report struct {
	choices int
	moves   []string

	mu     sync.Mutex
	faults []string
}

func (r *report) faultf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// A party is a process in a meeting, with its own store and engine.
type party struct {
	store backend.Store // not boxed
	eng   *engine.Engine
	stop  context.CancelFunc
	died  bool
}

// A site is the place of a meeting.
type site struct {
	t     *testing.T
	box   *signalBox
	r     *report
	world *approvals
	ids   []string
	work  sync.WaitGroup
	all   []*party
	look  backend.Store // for the checks
}

// enter adds a process. Its context ends when it must leave.
func (in *site) enter(name string, s backend.Store) (context.Context, *party) {
	p := &party{store: s, eng: newEngine(in.t, in.world.flow(), engine.WithStore(&boxed{s, in.box, name}))}
	ctx, stop := context.WithCancel(in.t.Context())
	p.stop = stop
	in.all = append(in.all, p)
	return ctx, p
}

// serve lets a process serve runs.
func (in *site) serve(ctx context.Context, p *party) {
	in.work.Go(func() {
		if err := p.eng.Serve(ctx, engine.WithSlots(2)); err != nil && !errors.Is(err, storage.ErrClosed) {
			in.r.faultf("Serve: %v", err)
		}
	})
}

// drive lets a process drive a run without releasing it, as soon as no other
// process does.
func (in *site) drive(ctx context.Context, p *party, id string) {
	in.work.Go(func() {
		for ctx.Err() == nil {
			_, err := p.eng.Run(ctx, id)
			if err == nil || errors.Is(err, engine.ErrStopped) {
				return
			}
			if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
				in.r.faultf("Run: %v", err)
				return
			}
			in.box.wait("driver", "again")
		}
	})
}

// signal sends a signal. If late is set, it waits until the run may be waiting for the signal.
func (in *site) signal(from backend.Store, id, name string, late bool) {
	in.work.Go(func() {
		if late {
			in.world.awaited(id, name)
		}
		if err := from.Send(in.t.Context(), storage.Message{Run: id, Kind: "signal", Name: name, Body: atom.MustEncode(name)}); err != nil {
			in.r.faultf("Send: %v", err)
		}
	})
}

// pause is the time between the two attempts of the last atom.
const pause = 100 * time.Millisecond

// hold holds the meeting. A process may hear late of a write by another one.
func (m *meeting) hold(t *testing.T, first backend.Store, join func() backend.Store, late time.Duration) *report {
	in := &site{t: t, box: &signalBox{}, r: &report{}, world: &approvals{tokens: make(chan string, 100)}, ids: []string{"r0", "r1"}[:m.runs]}
	in.serve(in.enter("server 0", first))
	for i := 1; i < m.servers; i++ {
		in.serve(in.enter(fmt.Sprint("server ", i), join()))
	}
	away, outside := in.enter("outside", join())
	in.look = outside.store
	starter := newEngine(t, in.world.flow(), engine.WithStore(in.look))
	for _, id := range in.ids {
		if err := starter.Start(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if m.driver {
		ctx, driver := in.enter("driver", join())
		for _, id := range in.ids {
			in.drive(ctx, driver, id)
		}
	}
	for _, id := range in.ids {
		in.signal(outside.eng.Store(), id, "one", m.late)
		in.signal(outside.eng.Store(), id, "two", m.late)
	}
	in.work.Go(func() { in.world.end(away, outside.eng.Store(), in.r) })

	in.move(m, late)
	in.leave()
	return in.r
}

// move lets one after the other pass until all runs have ended.
func (in *site) move(m *meeting, late time.Duration) {
	const step = 10 * time.Millisecond
	idle := time.Duration(0)
	for n := 0; ; n++ {
		synctest.Wait()
		if n > 0 && n == m.death {
			in.all[0].die(in.t)
			synctest.Wait()
		}
		if in.box.next(m.order) {
			continue
		}
		if in.ended() {
			return
		}
		if idle += step; idle > pause+10*late+step {
			in.r.faultf("nobody moves, and the runs have not ended")
			return
		}
		time.Sleep(step)
	}
}

func (p *party) die(t *testing.T) {
	t.Helper()
	p.stop()
	p.died = true
	if err := p.store.Close(); err != nil {
		t.Error(err)
	}
}

// leave ends all participants, and checks the final records.
func (in *site) leave() {
	in.r.choices, in.r.moves = in.box.choices, in.box.moves
	in.box.letAllPass()
	for _, p := range in.all {
		p.stop()
	}
	in.work.Wait()
	in.judge()
	for _, p := range in.all {
		if !p.died {
			p.die(in.t)
		}
	}
}

// ended reports whether all runs have ended.
func (in *site) ended() bool {
	for _, id := range in.ids {
		run, err := in.look.Run(in.t.Context(), id)
		if err != nil {
			in.t.Fatal(err)
		}
		if !run.State.Ended() {
			return false
		}
	}
	return true
}

// judge checks the final records of the meeting.
func (in *site) judge() {
	died := in.all[0].died
	for _, id := range in.ids {
		run, err := in.look.Run(in.t.Context(), id)
		if err != nil {
			in.t.Fatal(err)
		}
		if run.State != states.FlowSuccess || run.Owner != "" {
			in.r.faultf("%s is %v, owned by %q, due %v", id, run.State, run.Owner, run.Due)
		}
		if _, messages, err := in.look.Messages(in.t.Context(), id, 0); err != nil || len(messages) > 0 {
			in.r.faultf("%s has messages left: %v %v", id, messages, err)
		}
		history, err := in.look.History(in.t.Context(), id, 0, 0)
		if err != nil {
			in.t.Fatal(err)
		}
		done := map[string]int{}
		for _, e := range history {
			if e.Kind == storage.EntryAtom && states.Task(e.To) == states.TaskSuccess {
				done[e.Path]++
			}
		}
		for name, calls := range map[string]int{"a": 1, "one": 0, "ask": 1, "two": 0, "b": 2} {
			if done[name] != 1 {
				in.r.faultf("%s of %s has succeeded %d times", name, id, done[name])
			}
			if got := in.world.calls(id, name); got < calls || got > calls && (!died || calls == 0) {
				in.r.faultf("%s of %s was called %d times", name, id, got)
			}
		}
	}
}

// approvals is the world of a meeting: the calls, and the tokens that were given out.
type approvals struct {
	tokens chan string

	mu    sync.Mutex
	count map[string]int
	begun map[string]chan struct{}
}

func (w *approvals) called(ctx context.Context, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == nil {
		w.count = map[string]int{}
	}
	w.count[atom.CurrentCall(ctx).Run+" "+name]++
	if c := w.when(atom.CurrentCall(ctx).Run + " " + name); w.count[atom.CurrentCall(ctx).Run+" "+name] == 1 {
		close(c)
	}
}

func (w *approvals) calls(id, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count[id+" "+name]
}

// when returns a channel that is closed when the name is called.
func (w *approvals) when(what string) chan struct{} {
	if w.begun == nil {
		w.begun = map[string]chan struct{}{}
	}
	if w.begun[what] == nil {
		w.begun[what] = make(chan struct{})
	}
	return w.begun[what]
}

// awaited waits until the run is about to wait for a signal.
func (w *approvals) awaited(id, signal string) {
	w.mu.Lock()
	c := w.when(id + " " + map[string]string{"one": "a", "two": "ask"}[signal])
	w.mu.Unlock()
	<-c
}

// end ends the tokens that are given out. A token may be given out again after its process has died.
func (w *approvals) end(ctx context.Context, s backend.Store, r *report) {
	for {
		select {
		case token := <-w.tokens:
			_, err := s.EndToken(context.WithoutCancel(ctx), token, storage.TokenEnd{Result: atom.MustEncode("yes")})
			if err != nil && !errors.Is(err, storage.ErrGone) {
				r.faultf("EndToken: %v", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (w *approvals) flow() flow.Node {
	task := func(name string) *atom.Atom {
		return atom.Func(name, func(ctx context.Context, _ struct{}) (struct{}, error) {
			w.called(ctx, name)
			return struct{}{}, nil
		})
	}
	ask := atom.Func("ask", func(ctx context.Context, _ struct{}) (string, error) {
		w.called(ctx, "ask")
		w.tokens <- atom.Token(ctx)
		return "", atom.ErrDeferred
	}, atom.As("answer"), atom.Deferrable(atom.Deferral{}))
	one := atom.Awaits[string]("one", "one", atom.Deferral{}, atom.As("first"))
	two := atom.Awaits[string]("two", "two", atom.Deferral{}, atom.As("second"))
	b := atom.Func("b", func(ctx context.Context, _ struct{}) (struct{}, error) {
		w.called(ctx, "b")
		if atom.Attempt(ctx) == 1 {
			return struct{}{}, errRefused
		}
		return struct{}{}, nil
	}, atom.Attempts(2, atom.Constant(pause)))
	return flow.Linear("f", task("a"), one, ask, two, b)
}
