package attempts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// call returns a call that is work for workers, with an input.
func call(path string, input atom.Value) *executor.Call {
	c := &executor.Call{Work: "q", Timeout: 2 * time.Hour}
	c.About = atom.Call{Path: path, Attempt: 1, Incarnation: 2, Trace: "trace", PlainKey: true}
	c.Values = atom.NewValues([]atom.Arg{{Name: "in"}}, []atom.Value{input})
	return c
}

func work(t *testing.T, w *world) (told attempts.RemoteWork) {
	t.Helper()
	if err := w.draft.Tokens[len(w.draft.Tokens)-1].Work.Decode(&told); err != nil {
		t.Fatal(err)
	}
	return told
}

// TestHandOver: a call that workers make has a token in their queue, with the input and the limits of the atom.
func TestHandOver(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("pack")))
	if !w.s.Unit(0).NotCalled() || !w.HandOver(w.execute(0), call("pack", atom.MustEncode(7))) || w.s.Unit(0).NotCalled() {
		t.Fatal("the call is not left to workers")
	}
	k := w.draft.Tokens[0]
	if told := work(t, w); k.Queue != "q" || k.Attempt != 1 || k.Incarnation != 2 || !k.Deadline.Equal(noon.Add(time.Hour)) ||
		k.Heartbeat != time.Minute || string(told.Input) != `{"in":7}` || told.Trace != "trace" || told.Escaped || told.Revert {
		t.Errorf("got %+v with %+v", k, told)
	}
	if w.At("pack").Token.Work != nil {
		t.Error("the work is kept in memory")
	}
	ev, more := w.HandedOver()
	if !more || ev.Kind != scheduler.Deferred || ev.Unit != w.s.Unit(0) || ev.Revert {
		t.Errorf("got %+v, %v", ev, more)
	}
	if _, more := w.HandedOver(); more {
		t.Error("it is handed over twice")
	}
	// The process died, and the call starts again.
	if !w.HandOver(w.execute(0), call("pack", atom.Null)) || len(w.draft.Tokens) != 1 {
		t.Error("the work has another token when it starts again")
	}
}

// TestHandOverEnded: work that has ended before the scheduler knows of it ends then; work that was given up is
// forgotten.
func TestHandOverEnded(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("lost"), deferrable("pack")))
	w.HandOver(w.execute(0), call("lost", atom.Null))
	w.HandOver(w.execute(1), call("pack", atom.Null))
	w.Close("lost", false)
	w.committed()
	w.At("pack").Early = &storage.Message{N: 4, Kind: backend.MessageToken, Body: atom.MustEncode(3)}
	ev, more := w.HandedOver()
	if !more || ev.Kind != scheduler.Completed || ev.Unit != w.s.Unit(1) || string(ev.Result.JSON()) != "3" || w.Len() != 0 ||
		len(w.draft.Used) != 0 {
		t.Errorf("got %+v, %v, and %d attempts", ev, more, w.Len())
	}
}

// TestHandOverRevert: workers also undo, and learn what was done. The limits of the execution do not hold.
func TestHandOverRevert(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string]atom.Outcome[atom.Value]{
		"done": atom.Done(atom.MustEncode(5)), "failed": atom.Failed[atom.Value](&atom.Failure{Code: "No"}),
	} {
		w := begun(t, flow.Unordered("f", deferrable("pack")))
		c := call("pack", atom.Null)
		c.About.Revert, c.About.PlainKey, c.Detail = true, false, &scheduler.Detail{Outcome: want}
		if !w.HandOver(w.execute(0), c) {
			t.Fatal("the call is not left to workers")
		}
		told, k := work(t, w), w.At("pack")
		if !told.Revert || !told.Escaped || told.Outcome != outcome || (string(told.Result) == "5") != (outcome == "done") ||
			(told.Failure != nil) != (outcome == "failed") {
			t.Errorf("%s: got %+v", outcome, told)
		}
		if ev, _ := w.HandedOver(); !k.Revert || k.Token.Heartbeat != 0 || !k.Token.Deadline.Equal(noon.Add(2*time.Hour)) ||
			!ev.Revert {
			t.Errorf("%s: got %+v", outcome, k)
		}
	}
}

// TestHandOverLimit: the shorter limit of a call and of its deferral holds.
func TestHandOverLimit(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{
		0: time.Hour, 2 * time.Hour: time.Hour, time.Minute: time.Minute,
	} {
		w := begun(t, flow.Unordered("f", deferrable("pack")))
		c := call("pack", atom.Null)
		c.Timeout = timeout
		if w.HandOver(w.execute(0), c); !w.At("pack").Token.Deadline.Equal(noon.Add(want)) {
			t.Errorf("%v: the deadline is %v", timeout, w.At("pack").Token.Deadline)
		}
	}
}

// TestHandOverTooLarge: work that is too large is not left to workers, and its call says why.
func TestHandOverTooLarge(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("pack")))
	c := call("pack", atom.MustEncode(strings.Repeat("x", atom.MaxValue)))
	if w.HandOver(w.execute(0), c) || c.Missing == nil || !strings.Contains(c.Missing.Message, "the input of work for a worker") ||
		w.Len() != 0 || len(w.draft.Tokens) != 0 {
		t.Errorf("got %+v", c.Missing)
	}
}

// TestHandOverNode: a node has the limits and the token of its specification, and a worker may have it.
func TestHandOverNode(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("pack")))
	u := w.node("ship", &grow.Spec{
		Kind: grow.Work, Task: "ship", Token: "t1", Heartbeat: time.Second, ToStart: time.Minute, ToClose: time.Hour,
	})
	n := u.Node
	cmd := &scheduler.Command{Op: scheduler.Execute, Unit: u}
	c := call("ship", atom.Null)
	c.Unit = u
	w.HandOver(cmd, c)
	if k := w.draft.Tokens[0]; k.ID != "t1" || k.Heartbeat != time.Second || k.ScheduleToStart != time.Minute ||
		k.StartToClose != time.Hour || !k.Deadline.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("got %+v", k)
	}
	n.Spec.Token = "t2" // of the next attempt
	w.HandOver(cmd, c)
	if len(w.draft.Tokens) != 2 || w.At("ship").Token.ID != "t2" {
		t.Errorf("got %+v", w.draft.Tokens)
	}
	again := w.node("ship", &n.Spec) // loaded again
	cmd.Unit = again
	w.committed()
	if w.HandOver(cmd, c); w.At("ship").Unit != again || len(w.timers()) != 1 {
		t.Error("the attempt is not that of the loaded node")
	}
}

// TestOpenNode: a node's work for workers waits in its queue; a node without a token is ended by its call alone.
func TestOpenNode(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("pack")))
	u := w.node("ship", &grow.Spec{Kind: grow.Work, Queue: "q", Priority: 3, ToStart: time.Minute})
	n := u.Node
	cmd := &scheduler.Command{Op: scheduler.Await, Unit: u}
	if w.Open(cmd) != nil {
		t.Error("a node without a token has one")
	}
	n.Spec.Token = "t1"
	if a := w.Open(cmd); a.Token.Queue != "q" || a.Token.Priority != 3 || a.Token.ScheduleToStart != time.Minute {
		t.Errorf("got %+v", a.Token)
	}
	n.Spec.Token = "t2" // of the next attempt
	if a := w.Open(cmd); a.Token.ID != "t2" || w.At("ship") != a {
		t.Errorf("got %+v", a.Token)
	}
	n.Spec.Task = "ship"
	if attempts.QueueOf(n) != "" || attempts.QueueOf(nil) != "" {
		t.Error("a call is in a queue without its body")
	}
}

// A growing is a language whose flow begins with two nodes that have tokens, of which the process calls one.
type growing struct{ grow.Language }

func (growing) Grow(*grow.Ask) grow.Growth {
	return grow.Growth{Add: []grow.Spec{
		{Name: "call", Kind: grow.Work, Task: "t", Token: "t1"},
		{Name: "other", Kind: grow.Work, Token: "t2", Queue: "q"},
		{Name: "child", Kind: grow.Nested, Child: &grow.Child{Flow: "g"}},
	}}
}

// TestEarly: the call of an attempt that another party has ended is awaited, unless it has none, or is an undo.
func TestEarly(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Growing("f", growing{}))
	for n := range w.s.Open {
		if a := w.Open(&scheduler.Command{Unit: &n.Unit, Rec: n.Rec}); a != nil {
			a.Early = &storage.Message{}
		}
		if n.NotCalled() != (n.Path == "call") {
			t.Errorf("%s is in the wrong queue", n.Path)
		}
	}
	early := func() (paths []string) {
		for u := range w.Early() {
			paths = append(paths, u.Path)
		}
		return paths
	}
	if same(t, "early", early(), "call"); w.Len() != 2 {
		t.Errorf("%d attempts are open", w.Len())
	}
	w.At("call").Revert = true
	same(t, "an undo", early())
	w.At("call").Revert, w.At("call").Early = false, nil
	same(t, "not early", early())
}

// A typed is a language with a task of its own, whose results are numbers.
type typed struct{ growing }

func (typed) Task(string) (atom.Body, bool) { return numbers{}, true }

type numbers struct{ atom.Body }

func (numbers) CheckResult(v atom.Value) error {
	var n int
	return v.Decode(&n)
}

// TestNodes: loaded tokens belong to their nodes, and only a task of the language itself has a type.
func TestNodes(t *testing.T) {
	t.Parallel()
	for language, want := range map[grow.Language]bool{growing{}: true, typed{}: false} {
		w := begun(t, flow.Growing("f", language))
		w.Load(&backend.Snapshot{Tokens: []storage.Token{{ID: "t1", Path: "call"}, {ID: "t3", Path: "gone"}}})
		a := w.At("call")
		if a.Grown() == nil || a.Path != "call" || w.At("gone").Unit != nil {
			t.Fatalf("got %+v", a)
		}
		if text, number := w.CheckResult(a, atom.MustEncode("x")), w.CheckResult(a, atom.MustEncode(1)); (text == nil) != want ||
			number != nil {
			t.Errorf("%T: got %v, %v", language, text, number)
		}
	}
}
