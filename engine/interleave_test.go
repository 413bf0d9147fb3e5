package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

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
