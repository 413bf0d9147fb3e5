package bulk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/google/go-cmp/cmp"
)

// open creates runs that have not started.
func open(t *testing.T, store backend.Store, n int) {
	t.Helper()
	began := time.Now().Add(-time.Hour)
	for i := range n {
		at := began.Add(time.Duration(i/3) * time.Microsecond) // three with the same time
		run := storage.Run{ID: fmt.Sprint("r", i), Flow: "trip", Structure: "x", Created: at}
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
}

// end ends a run with success.
func end(t *testing.T, store backend.Store, id string) {
	t.Helper()
	claim, snap, err := store.Begin(t.Context(), id)
	if err == nil {
		err = store.Commit(t.Context(), claim, &backend.Checkpoint{Head: backend.Head{
			Seq: snap.Run.Seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Time: time.Now(), Release: true,
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// messages returns the number of messages to all runs, and the first message.
func messages(t *testing.T, store backend.Store, n int) (count int, first storage.Message) {
	t.Helper()
	for i := range n {
		_, all, err := backend.AllMessages(t.Context(), store, fmt.Sprint("r", i))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) > 1 {
			t.Fatalf("run r%d got the command %d times", i, len(all))
		}
		if len(all) == 1 {
			first = all[0]
		}
		count += len(all)
	}
	return count, first
}

func given(o bulk.Input) []engine.RunOption {
	return []engine.RunOption{
		engine.With(atom.NewKey[string]("filter"), o.Filter), engine.With(atom.NewKey[string]("command"), o.Command),
		engine.With(atom.NewKey[string]("reason"), o.Reason),
	}
}

func newEngine(t *testing.T, store backend.Store) *engine.Engine {
	t.Helper()
	eng, err := engine.New(bulk.Flow(store, nil), store, engine.WithInputs(
		atom.NewKey[string]("filter"), atom.NewKey[string]("command"), atom.NewKey[string]("reason"), atom.NewKey[*bulk.Options]("with")))
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// TestBulk gives a command to 5,000 runs. One of them has ended, and refuses. The process dies repeatedly. Each other
// run gets the command once, with its sender.
//
// Guarantee (G5): A bulk command gives each run its command once, whatever process dies, and lists the runs that
// refuse.
func TestBulk(t *testing.T) {
	t.Parallel()
	const n = 5000
	store := memstore.New()
	open(t, store, n)
	end(t, store, "r17")
	in := bulk.Input{Filter: "flow:trip", Command: "cancel", Reason: "enough"}
	want := bulk.Answers{Runs: n - 1, Refused: []bulk.Refusal{
		{Why: "it has ended, and revert undoes what it did", Runs: 1, Such: []string{"r17"}},
	}}
	would, err := bulk.Preview(t.Context(), store, nil, in)
	if diff := cmp.Diff(want, would); diff != "" || err != nil {
		t.Errorf("would get the command (%v):\n%s", err, diff)
	}
	o := given(in)
	deaths := 0
	for ; deaths < 6; deaths++ {
		dying := faultstore.New(store, faultstore.From("Commit", 5+2*deaths, faultstore.Disk)) // few, because the number of items in a commit depends on the machine
		if _, err := newEngine(t, dying).Run(t.Context(), "bulk-1", o...); err == nil {
			break
		} else if !errors.Is(err, faultstore.ErrDisk) {
			t.Fatal(err)
		}
		next := store.Join()
		store.Die()
		store = next
	}
	if deaths < 2 {
		t.Errorf("the process died %d times", deaths)
	}
	defer func() { _ = store.Close() }()
	res, err := newEngine(t, store).Run(t.Context(), "bulk-1", o...)
	if err != nil || res.Run.State != states.FlowSuccess {
		t.Fatal(res, err)
	}
	count, first := messages(t, store, n)
	if count != n-1 || first.Kind != "cancel" || !strings.Contains(first.Body.String()+fmt.Sprint(first.Failure), "enough") || *first.Issuer != (storage.Issuer{Via: storage.ViaBulk, Name: "bulk-1"}) {
		t.Errorf("%d of %d runs got %+v", count, n, first)
	}
	got, err := engine.Get(res, atom.NewKey[bulk.Answers](bulk.AnswersPath))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answers are (-want +got):\n%s", diff)
	}
	refused := ""
	for i := range n / 1000 {
		id := fmt.Sprint("bulk-1/pages/", i)
		run, err := store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		refused += run.Output.Data.String()
	}
	if strings.Count(refused, atom.CodeRefused) != 1 || !strings.Contains(refused, "run r17 is SUCCESS: it has ended") {
		t.Errorf("the output is %s", refused)
	}
}

// TestWrongOrders: invalid bulk commands fail before any run gets a command. So do those whose filter does not say which
// runs are meant, such as one of blanks.
func TestWrongOrders(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	open(t, store, 3)
	wrong := []bulk.Input{{}, {Filter: "id:*", Command: "dance"}}
	for _, filter := range []string{
		"", " ", "\t\n", "\u00a0", "\u3000\u2028", "stat:x", "-flow:trip", "flow:*", "flow:a,* -state:SUCCESS", "parent:*,a", "-id:*",
	} {
		wrong = append(wrong, bulk.Input{Filter: filter, Command: "cancel"})
	}
	for i, o := range wrong {
		if o.Check() == nil {
			t.Errorf("%+v is right", o)
		}
		if _, err := newEngine(t, store).Run(t.Context(), fmt.Sprint("wrong-", i), given(o)...); err == nil {
			t.Errorf("%+v succeeds", o)
		}
	}
	if count, _ := messages(t, store, 3); count != 0 {
		t.Errorf("%d runs got a command", count)
	}
	for _, filter := range []string{"id:*", "-flow:trip id:*", "flow:t*", `flow:"*"`, "r1", "is:top -flow:trip"} {
		if err := (&bulk.Input{Filter: filter, Command: "cancel"}).Check(); err != nil {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

// TestCommandsOfOneRun: many runs can get each command that a single run can get, and a preview says what will happen.
func TestCommandsOfOneRun(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	put := func(id string, head backend.Head, token bool, atoms ...storage.Atom) {
		t.Helper()
		if err := store.Create(t.Context(), storage.Run{ID: id, Flow: "trip", Structure: "x"}); err != nil {
			t.Fatal(err)
		}
		claim, snap, err := store.Begin(t.Context(), id)
		head.Seq, head.Time, head.Release = snap.Run.Seq, time.Now(), true
		cp := &backend.Checkpoint{Head: head, Atoms: atoms}
		if token {
			cp.Tokens = []storage.Token{{ID: "token-" + id, Run: id, Path: "Sign", Attempt: 1}}
		}
		if err == nil {
			err = store.Commit(t.Context(), claim, cp)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sign := storage.Atom{Path: "Sign", State: states.TaskRunning, Attempt: 1}
	put("r0", backend.Head{State: states.FlowRunning}, true, sign)
	put("r1", backend.Head{State: states.FlowSuccess, Outcome: storage.Succeeded, Ended: time.Now()}, false)
	failed := backend.Head{State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndoFailed, Ended: time.Now()}
	put("r2", failed, false, storage.Atom{Path: "Book", State: states.TaskRevertFailure})
	for i, c := range []struct {
		command string
		with    bulk.Options
		want    string // the answers
		sent    string // the messages of the runs
	}{
		{"signal", bulk.Options{Name: "go", Data: atom.MustEncode(7)}, "1 get it; it waits for nothing: r2 r1", "signal go 7;;"},
		{"retry-revert", bulk.Options{}, "2 get it; no revert of it has failed: r1", "retry-revert  {};;retry-revert  {}"},
		{"skip", bulk.Options{Path: "Book"}, "1 get it; it has no step Book: r0; no revert of it has failed: r1", ";;skip Book {}"},
		{"skip", bulk.Options{}, "0 get it; name the step to skip: r2 r0; no revert of it has failed: r1", ";;"},
		{"revert", bulk.Options{Path: "Nowhere"}, "0 get it; it has no step Nowhere: r1 r0; it could not be undone: use retry-revert or skip: r2", ";;"},
		{"complete", bulk.Options{Path: "Sign", Data: atom.MustEncode("ann")}, "1 get it; no token of it is open: r2 r1", `token token-r0Sign "ann";;`},
		{"complete", bulk.Options{Path: "Sign"}, "0 get it; no token of it is open: r2 r1 r0", ";;"},
	} {
		in := bulk.Input{Filter: "flow:trip", Command: c.command, With: &c.with}
		would, err := bulk.Preview(t.Context(), store, nil, in)
		if err != nil || answers(would) != c.want {
			t.Errorf("%s %+v: %s, want %s (%v)", c.command, c.with, answers(would), c.want, err)
		}
		res, err := newEngine(t, store).Run(t.Context(), fmt.Sprint("bulk-", i), append(given(in),
			engine.With(atom.NewKey[*bulk.Options]("with"), in.With))...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.Get(res, atom.NewKey[bulk.Answers](bulk.AnswersPath))
		if err != nil || got.Runs != would.Runs || got.Refusals() != would.Refusals() {
			t.Errorf("%s %+v: %s, want %s (%v)", c.command, c.with, answers(got), answers(would), err)
		}
		sent := make([]string, 3)
		for n := range sent {
			_, all, err := backend.AllMessages(t.Context(), store, fmt.Sprint("r", n))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range all {
				if m.Issuer.Name == fmt.Sprint("bulk-", i) {
					sent[n] = strings.TrimSpace(fmt.Sprint(m.Kind, " ", m.Name, m.Path, " ", m.Body))
				}
			}
		}
		if told := strings.Join(sent, ";"); told != c.sent {
			t.Errorf("%s %+v sent %q, want %q", c.command, c.with, told, c.sent)
		}
	}
}

// answers writes answers on a line.
func answers(a bulk.Answers) string {
	text := fmt.Sprintf("%d get it", a.Runs)
	for _, r := range a.Refused {
		text += "; " + r.Why + ": " + strings.Join(r.Such, " ")
	}
	return text
}
