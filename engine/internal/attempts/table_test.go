package attempts_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// A world is the table of a run "r" with the draft that it writes and the scheduler that it asks.
type world struct {
	attempts.Table

	plan  *flow.Plan
	draft checkpoint.Draft
	s     *scheduler.Scheduler
}

// begun returns the table of a run of a flow whose first atoms execute.
func begun(t *testing.T, root flow.Node) *world {
	t.Helper()
	plan, err := flow.Compile(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{plan: plan, s: scheduler.New(plan, nil, nil)}
	w.draft.Init(plan, "r", false, backend.Head{})
	w.draft.Now = noon
	w.Init("r", plan, w.s, &w.draft, 0)
	events := []scheduler.Event{{Kind: scheduler.Begin, Fresh: true}}
	for ; len(events) > 0; events = events[1:] {
		ev := events[0]
		cmds := w.s.Step(ev)
		for i := range cmds {
			if cmds[i].Op == scheduler.AskLanguage {
				g := plan.Atoms[0].Language.Grow(&grow.Ask{Cause: *cmds[i].Cause})
				events = append(events, scheduler.Event{Kind: scheduler.Grown, Growth: &g})
			}
		}
		if len(events) == 1 && ev.Kind != scheduler.Idle || len(cmds) > 0 && ev.Kind == scheduler.Idle {
			events = append(events, scheduler.Event{Kind: scheduler.Idle})
		}
	}
	return w
}

// node returns the unit of a grown node.
func (w *world) node(path string, spec *grow.Spec) *scheduler.Unit {
	return w.s.Unwind(scheduler.Loaded{Path: path, Spec: spec})
}

// committed empties the draft, as a commit does.
func (w *world) committed() { w.draft.Renew() }

// execute returns the command that executes an atom of the plan.
func (w *world) execute(a int32) *scheduler.Command {
	u := w.s.Unit(a)
	return &scheduler.Command{Op: scheduler.Execute, Unit: u, Rec: u.Rec}
}

// deferrable is an atom that holds its token for an hour at most, with a heartbeat each minute.
func deferrable(name string) *atom.Atom {
	return atom.Func(name, func(context.Context, struct{}) (int, error) { return 0, nil }, atom.NoEffect(),
		atom.Deferrable(atom.Deferral{Deadline: time.Hour, Heartbeat: time.Minute}))
}

// timers returns the timers in the draft, as texts such as "approve +1m0s", or "approve gone".
func (w *world) timers() (list []string) {
	for _, row := range w.draft.Timers {
		text := row.Path + " gone"
		if !row.Due.IsZero() {
			text = row.Path + " +" + row.Due.Sub(noon).String()
		}
		list = append(list, text)
	}
	return list
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// TestOpen: the token of an attempt, with its limits, is stored with its start. An attempt that starts again keeps it.
func TestOpen(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("approve"), atom.Func("plain",
		func(context.Context, struct{}) (int, error) { return 0, nil }, atom.NoEffect())))
	a := w.Open(w.execute(0))
	k := w.draft.Tokens[0]
	if len(w.draft.Tokens) != 1 || k.ID == "" || k.ID != a.Token.ID || k.Run != "r" || k.Path != "approve" || k.Attempt != 1 ||
		!k.Deadline.Equal(noon.Add(time.Hour)) || k.Heartbeat != time.Minute || !k.Beat.Equal(noon) {
		t.Errorf("got %+v", w.draft.Tokens)
	}
	same(t, "timers", w.timers(), "approve +1m0s")
	if at, _ := w.Nearest(); !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("the nearest timer is due at %v", at)
	}
	if w.Open(w.execute(0)) != a || len(w.draft.Tokens) != 1 || w.At("approve") != a || w.Of(a.Unit) != a {
		t.Error("it has another token when it starts again")
	}
	if w.Open(w.execute(1)) != nil || w.Len() != 1 || w.Signals() != 0 {
		t.Error("others may end an atom that is not deferrable")
	}
	if w.ByToken(&storage.Message{Path: "approve", Name: k.ID}) != a ||
		w.ByToken(&storage.Message{Path: "approve", Name: "earlier"}) != nil ||
		w.EndedBy(&storage.Message{Kind: backend.MessageToken, Path: "plain", Name: k.ID}) != nil {
		t.Error("a message about another token reaches the attempt")
	}
}

// TestSignal: a signal ends an attempt that awaits it, if its result fits, and only once.
func TestSignal(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", atom.Awaits[int]("wait", "go", atom.Deferral{Deadline: time.Hour})))
	a := w.Open(w.execute(0))
	if w.Signals() != 1 || len(w.draft.Tokens) != 0 || a.Token.ID != "" {
		t.Errorf("got %+v", a)
	}
	fits := func(m storage.Message) bool { return w.EndedBy(&m) == a }
	signal := storage.Message{Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode(1)}
	other, misfit, failed, event := signal, signal, signal, signal
	other.Name, misfit.Body, event.Kind = "stop", atom.MustEncode("x"), grow.MessageEvent
	failed.Body, failed.Failure = misfit.Body, &atom.Failure{}
	if !fits(signal) || fits(other) || fits(misfit) || !fits(failed) || fits(event) {
		t.Error("the wrong signals end the attempt")
	}
	if a.Early = &signal; fits(signal) {
		t.Error("a second signal ends it")
	}
	ev := w.Expire(a)
	if f := ev.Failure; f.Code != atom.CodeTimeout || f.Atom != "wait" || f.Attempt != 1 || w.Len() != 0 {
		t.Errorf("got %+v", f)
	}
}

// TestEndOf: a message that ends an attempt becomes the event for the scheduler.
func TestEndOf(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("approve")))
	a := w.Open(w.execute(0))
	failure := &atom.Failure{Code: "No"}
	for _, c := range []struct {
		name   string
		m      storage.Message
		revert bool
		result string
		code   string
	}{
		{"a result", storage.Message{Body: atom.MustEncode(7)}, false, "7", ""},
		{"a failure", storage.Message{Failure: failure}, false, "", "No"},
		{"a misfit", storage.Message{Kind: "token", Body: atom.MustEncode("x")}, false, "", atom.CodeBadResult},
		{"a revert", storage.Message{Body: atom.MustEncode("x")}, true, `"x"`, ""},
		{"a revert without a result", storage.Message{}, true, "null", ""},
	} {
		a.Revert = c.revert
		ev := w.EndOf(a, &c.m)
		code := ""
		if ev.Failure != nil {
			code = ev.Failure.Code
		}
		if ev.Kind != scheduler.Completed || ev.Unit != w.s.Unit(0) || !ev.ByToken || ev.Revert != c.revert || code != c.code ||
			string(ev.Result.JSON()) != c.result && (c.result != "" || ev.Result != nil) {
			t.Errorf("%s: got %+v", c.name, ev)
		}
	}
	a.Revert = false
	if f := w.EndOf(a, &storage.Message{Kind: "token", Body: atom.MustEncode("x")}).Failure; f.Atom != "approve" ||
		f.Attempt != 1 || !strings.Contains(f.Message, "the token that ended the attempt carries no result of it: ") {
		t.Errorf("got %+v", f)
	}
}

// TestClose: no party can end an attempt that is over, and the end that it had is taken.
func TestClose(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("approve")))
	w.Open(w.execute(0))
	w.Close("approve", false)
	if last := w.draft.Tokens[1]; last.State != storage.TokenGone || len(w.draft.Used) != 0 {
		t.Errorf("a token that no party knows: got %+v, %+v", w.draft.Tokens, w.draft.Used)
	}
	w.Close("approve", false) // again
	if len(w.draft.Tokens) != 2 {
		t.Error("it is closed twice")
	}
	w.committed()
	a := w.Open(w.execute(0))
	a.Token.Take = 3
	w.committed()
	w.Close("approve", false)
	if u := w.draft.Used; len(u) != 1 || u[0].Was != 3 || u[0].Token.State != storage.TokenGone {
		t.Errorf("a token that parties know: got %+v", u)
	}
	same(t, "timers", w.timers(), "approve gone")
	if _, waits := w.Nearest(); waits {
		t.Error("its timer is left")
	}
	w.committed()
	a = w.Open(w.execute(0))
	a.Early = &storage.Message{N: 5}
	w.committed()
	w.Close("approve", true)
	if len(w.draft.Used) != 0 || !slices.Equal(w.draft.Taken, []int64{5}) {
		t.Errorf("a used token: got %+v, taken %v", w.draft.Used, w.draft.Taken)
	}
}

// TestOverdue: which failure each limit is, and whether work was taken before.
func TestOverdue(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("approve")))
	a := w.Open(w.execute(0))
	want := map[storage.TokenLimit]string{
		storage.ScheduleToStart: atom.CodeScheduleToStart, storage.StartToClose: atom.CodeStartToClose,
		storage.HeartbeatLimit: atom.CodeHeartbeatLost, storage.ScheduleToClose: atom.CodeTimeout,
	}
	for limit, code := range want {
		if f := a.Overdue(limit); f.Code != code || f.Atom != "approve" || f.Attempt != 1 || f.Untaken {
			t.Errorf("limit %v: got %+v", limit, f)
		}
	}
	for name, change := range map[string]func(k *storage.Token){
		"untaken": func(*storage.Token) {}, "taken": func(k *storage.Token) { k.Take = 1 },
		"ended": func(k *storage.Token) { k.State = storage.TokenFailed },
		"known": func(k *storage.Token) { k.Beat = k.Since.Add(1) }, "no work": func(k *storage.Token) { k.Queue = "" },
	} {
		k := a.Token
		k.Queue = "q"
		change(&k)
		b := attempts.Attempt{Unit: a.Unit}
		if b.SetToken(&k); b.Overdue(storage.ScheduleToStart).Untaken != (name == "untaken") {
			t.Errorf("%s: the failure says the opposite", name)
		}
	}
	if (*attempts.Attempt)(nil).Untaken() {
		t.Error("no attempt is untaken")
	}
}

// TestSeal: before a stop, no party may end an attempt any more, except that work may be taken: it is withdrawn.
func TestSeal(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("open"), deferrable("ended"), deferrable("queued"), deferrable("taken"),
		deferrable("undone"), atom.Awaits[int]("signal", "go", atom.Deferral{})))
	for i := range int32(6) {
		w.Open(w.execute(i))
	}
	w.At("ended").Token.State = storage.TokenCompleted
	w.At("queued").Token.Queue, w.At("taken").Token.Queue, w.At("taken").Token.Take = "q", "q", 1
	w.s.Unit(4).Rec.State++ // not RUNNING
	w.Load(&backend.Snapshot{Tokens: []storage.Token{{ID: "x", Path: "nobody's"}}})
	w.committed()
	given := map[string]bool{}
	for _, g := range w.Seal() {
		given[g.Path] = true
	}
	same(t, "given up", slices.Sorted(maps.Keys(given)), "ended", "open", "taken")
	var closed []string
	for _, k := range w.draft.Tokens {
		if k.State != storage.TokenGone || k.Run != "r" {
			t.Errorf("got %+v", k)
		}
		closed = append(closed, k.Path)
	}
	slices.Sort(closed)
	same(t, "closed", closed, "open", "taken")
}

// TestWithdraw: work that no worker has taken is told apart from what others may have done.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("open"), deferrable("queued"), deferrable("call")))
	w.Open(w.execute(0))
	w.Open(w.execute(1)).Token.Queue = "q"
	w.committed()
	for i := range int32(3) {
		w.Withdraw(w.execute(i))
	}
	list := w.TakeWithdrawn()
	if len(list) != 3 || len(w.TakeWithdrawn()) != 0 || len(w.draft.Tokens) != 1 || w.draft.Tokens[0].Path != "open" ||
		!slices.Equal(w.draft.GiveUp, []string{w.At("queued").Token.ID}) || !w.draft.Dirty {
		t.Errorf("got %+v, tokens %+v, %v", list, w.draft.Tokens, w.draft.GiveUp)
	}
	if w.InQueue(list[0]) || !w.InQueue(list[1]) || w.InQueue(list[2]) {
		t.Error("the wrong work may be taken")
	}
	if !w.IsOpen(list[2]) || w.Withdrawn(list[0]).Untaken || len(w.draft.Used) != 0 || w.Withdrawn(list[2]).Unit != w.s.Unit(2) {
		t.Error("what workers do not take counts as untaken")
	}
	if ev := w.Withdrawn(list[1]); !ev.Untaken || ev.Kind != scheduler.Withdrawn || ev.Unit != w.s.Unit(1) || len(w.draft.Used) != 1 {
		t.Errorf("got %+v", ev)
	}
	w.At("queued").Token.Take = 1
	if w.Close("queued", true); w.IsOpen(list[1]) || w.InQueue(list[1]) {
		t.Error("an attempt that has ended is open")
	}
	a := w.Open(w.execute(1))
	w.committed()
	a.Token.State = storage.TokenFailed
	if w.Void(a); len(w.draft.Tokens) != 0 {
		t.Error("a token that has ended is closed")
	}
}

// TestLoad: a run that is loaded knows the attempts that others may end, and those that they have ended.
func TestLoad(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("open"), deferrable("ended"), atom.Awaits[int]("signal", "go", atom.Deferral{})))
	w.s.Unit(2).Rec.Ended = grow.EndDeferred
	w.Load(&backend.Snapshot{
		Tokens: []storage.Token{
			{ID: "a", Path: "open", Attempt: 1, Work: atom.Null, Result: atom.Null, Failure: &atom.Failure{}, Queue: "q"},
			{ID: "b", Path: "gone"},
		},
		Messages: []storage.Message{
			{Kind: backend.MessageToken, Path: "ended", Name: "c"},
			{Kind: backend.MessageToken, Path: "open", Name: "earlier"},
			{Kind: backend.MessageTaken, Path: "signal", Name: "d"},
		},
		Timers: []storage.TimerRow{
			{Path: "open", Kind: storage.TimerToken, Due: noon}, {Path: "gone", Kind: storage.TimerToken, Due: noon.Add(-1)},
		},
	})
	if a := w.At("open"); a.Token.ID != "a" || a.Token.Work != nil || a.Token.Result != nil || a.Token.Failure != nil {
		t.Errorf("got %+v", a.Token)
	}
	if a := w.At("ended"); a.Token.ID != "c" || a.Token.State == storage.TokenOpen {
		t.Errorf("got %+v", a.Token)
	}
	if w.At("gone").Unit != nil || w.At("gone").Awaited() || w.At("open").Awaited() || !w.At("signal").Awaited() {
		t.Error("the wrong attempts are awaited")
	}
	w.At("gone").Revert = true
	if !w.At("gone").Awaited() {
		t.Error("a revert that starts again is not awaited")
	}
	if at, _ := w.Nearest(); !at.Equal(noon) {
		t.Errorf("the nearest timer is due at %v", at)
	}
	if w.BySignal(&storage.Message{Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode(1)}) != w.At("signal") {
		t.Error("no signal ends the attempt")
	}
	w.DropAll()
	same(t, "timers", w.timers(), "open gone", "open gone", "gone"+" gone")
	if len(w.draft.Used) != 2 || w.Len() != 0 || w.MayPass() {
		t.Errorf("at the end, %d attempts and %+v are left", w.Len(), w.draft.Used)
	}
}
