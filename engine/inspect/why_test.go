package inspect_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

var update = flag.Bool("update", false, "rewrite the page of reasons")

// A stop is one reason for which a run or a job stands still.
type stop struct {
	// build makes the run or job "x" stand still. Waits in it take virtual time.
	build func(w *world)
	kind  inspect.WaitKind // of the wait that says the reason
	why   string           // what ebb why says of it, a regular expression
	do    string           // what it says to do, if that is a command
	lists string           // what a list says of the run, if not why
	page  string           // what stands still, for the page; "" leaves it out
}

// A world is a store, and what happens around it.
type world struct {
	*testing.T

	store  *memstore.Store
	behind time.Duration // how far the clock of the one who asks is behind
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) engine(root flow.Node, opts ...engine.Option) *engine.Engine {
	w.Helper()
	e, err := engine.New(root, append([]engine.Option{engine.WithStore(w.store)}, opts...)...)
	w.must(err)
	return e
}

// serve serves a flow until the end of the test, and returns a function that stops it earlier.
func (w *world) serve(e *engine.Engine, opts ...engine.ServerOption) (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, opts...) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
	w.Cleanup(stop)
	synctest.Wait()
	return stop
}

// wait lets virtual time pass.
func (w *world) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// post posts the job "x" of the flow "order".
func (w *world) post(change ...func(*storage.Job)) {
	w.Helper()
	job := storage.Job{ID: "x", Run: "x", Flow: "order", Created: time.Now()}
	for _, f := range change {
		f(&job)
	}
	w.must(w.store.PostJob(w.Context(), job))
}

// claimant is a server that claims jobs of the flow "order", but finds none.
func (w *world) claimant(opts ...engine.ServerOption) {
	w.Helper()
	none := func(context.Context, int) ([]engine.NewRun, error) { return nil, nil }
	w.serve(w.engine(orders()), append(opts, engine.WithSource(none))...)
}

func step(name string) *atom.Atom {
	return atom.Func(name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
}

// blocks is the task "charge", which executes until its context ends.
func blocks() *atom.Atom {
	return atom.Func("charge", func(ctx context.Context, _ struct{}) (struct{}, error) { <-ctx.Done(); return struct{}{}, ctx.Err() })
}

func orders(more ...flow.Node) *flow.LinearFlow {
	nodes := []flow.Node{step("reserve"), atom.Awaits[string]("approve", "approved", atom.Deferral{Deadline: time.Hour})}
	return flow.Linear("order", append(nodes, more...)...)
}

// listener is a language that listens for messages.
type listener struct{}

// Grow implements [flow.Language].
func (listener) Grow(*flow.Ask) flow.Growth { return flow.Growth{Listen: true} }

// Undo implements [flow.Language].
func (listener) Undo(*flow.UndoAsk) (atom.Value, error) { return nil, nil }

// undoFailed runs a flow whose undo fails.
func undoFailed(w *world) {
	no := errors.New("no")
	book := atom.New("book", undoFails{}, atom.RevertAttempts(1, atom.Constant(time.Second)))
	e := w.engine(flow.Linear("order", book,
		atom.Func("charge", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, no })))
	_, _ = e.Run(w.Context(), "x")
}

var stops = map[string]stop{
	"signal": {
		build: func(w *world) {
			e := w.engine(orders())
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForSignal, why: `approve waits for the signal approved since DATE \(.*\), until DATE \(.* left\)\.`,
		do: `ebb signal x approved --data '"…"'`, lists: `approve waits for the signal "approved"`,
		page: "A step waits for a signal",
	},
	"a signal that nothing waits for": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", blocks()))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
			w.must(w.store.Send(w.Context(), storage.Message{Run: "x", Kind: flow.MessageSignal, Name: "payd", Sent: time.Now()}))
		},
		kind: inspect.WaitsForReading, why: `In its inbox is: signal payd since DATE \(.*\); nothing waits for it now\.`,
		lists: `charge executes`, page: "A signal has a wrong name, or came early",
	},
	"execution": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", blocks()))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForExecution, why: `charge is being executed since DATE \(.*\)\.`, lists: `charge executes`,
		page: "A task takes long",
	},
	"retry": {
		build: func(w *world) {
			fails := atom.Func("charge", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("busy") },
				atom.Attempts(2, atom.Constant(time.Hour)))
			e := w.engine(flow.Linear("order", fails))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForRetry, why: `charge is retried at DATE \(in .*\), as attempt 2, after Error: busy\.`,
		lists: `waits for a retry, within 1h`, page: "A failed task is tried again later",
	},
	"undo failed": {
		build: undoFailed,
		kind:  inspect.WaitsForMending, why: `book could not be undone, after Error: the office is closed\.`,
		do: "ebb retry --revert x book --no-wait", page: "The undo of a step failed",
	},
	"timer": {
		build: func(w *world) {
			e := w.engine(flow.Growing("order", pauses{}))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForTime, why: `Run x is RUNNING, and waits\. Process \d+ on \S* wakes it at DATE \(in .*\)\.`,
		lists: "waits for a timer, within 1h", page: "A timer",
	},
	"worker": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", atom.New("charge", queued{})))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(2 * time.Minute)
		},
		kind: inspect.WaitsForWorker, why: `charge waits for a worker that asks for "cards" since DATE \(.*\)\. No worker asks for it\.`,
		lists: `charge waits for workers of "cards"; no worker asks for it`, page: "No worker asks for the work of a queue",
	},
	"child run": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", flow.Run[struct{}, struct{}]("pack", orders())))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForRun, why: `pack waits for the run ".*" since DATE \(.*\)\.`,
		lists: "pack waits for the run that it began", page: "A step waits for the run that it began",
	},
	"clock": {
		build: func(w *world) {
			e := w.engine(orders())
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
			w.behind = time.Hour
		},
		kind: inspect.WaitsForSignal, lists: `approve waits for the signal "approved"`,
		why: `It has changed at DATE, which has not come yet: a clock is wrong, and times come early or ` +
			`late\.`,
		page: "The clock of a machine is wrong",
	},
	"timed out": {
		build: func(w *world) {
			e := w.engine(orders())
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(2 * time.Hour)
		},
		why: `It failed at approve: Timeout: the attempt did not end before its deadline\.`, page: "A wait has timed out",
	},
	"undone, and the undo failed": {
		build: undoFailed,
		kind:  inspect.WaitsForMending, why: `It was undone because charge failed: Error: no\.`,
		do: "ebb skip x book --no-wait", page: "The undo of a step failed, after this",
	},
	"operator": {
		build: func(w *world) {
			e := w.engine(orders())
			w.must(e.Start(w.Context(), "x"))
			_, err := engine.Suspend(w.Context(), w.store, "x")
			w.must(err)
		},
		kind: inspect.WaitsForOperator, why: `Run x is PENDING\. An operator suspended it\.`, do: "ebb resume x",
		lists: "waits for an operator, who suspended it", page: "An operator suspended the run",
	},
	"no process of a Go flow": {
		build: func(w *world) { w.must(w.engine(orders()).Start(w.Context(), "x")) },
		kind:  inspect.WaitsForProcess,
		why:   `It is due since DATE \(.*\), and no process serves its flow order\. Start the program that has the flow\.`,
		page:  "No program serves the flow",
	},
	"no process of a definition": {
		build: func(w *world) {
			w.must(w.store.Create(w.Context(), storage.Run{ID: "x", Flow: "order", Definition: "d", Due: time.Now()}))
		},
		kind: inspect.WaitsForProcess, why: `It is due since DATE \(.*\), and no process serves its flow order\. Start ebb serve\.`,
		do: "ebb serve", page: "No `ebb serve` runs",
	},
	"owner died": {
		build: func(w *world) {
			dying := w.store.Join()
			e, err := engine.New(orders(), engine.WithStore(enginetest.DieAt(dying, 1)))
			w.must(err)
			_, _ = e.Run(w.Context(), "x")
			w.must(dying.Close())
		},
		kind: inspect.WaitsForProcess, why: `It (is due since DATE \(.*\)|could go on), and no process serves its flow order\. .*`,
		page: "The process of the run has died, and no other serves the flow",
	},
	"changed flow": {
		build: func(w *world) {
			e := w.engine(orders())
			halt := w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
			halt()
			w.must(w.store.Send(w.Context(), storage.Message{
				Run: "x", Kind: flow.MessageSignal, Name: "approved", Body: atom.MustEncode("yes"), Sent: time.Now(),
			}))
			w.serve(w.engine(orders(step("ship"))))
			w.wait(2 * time.Second)
		},
		kind: inspect.WaitsForFlow,
		why: `Process \d+ on \S* refused it at DATE \(.* ago\): the flow has changed since the run was begun: added: "ship"; ` +
			`add the earlier flow to engine\.Flows of engine\.WithCatalog, or see engine\.AcceptChange\.`,
		page: "The program that serves the flow has changed it",
	},
	"refused": {
		build: func(w *world) {
			e := w.engine(orders())
			halt := w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
			halt()
			if _, err := w.engine(orders(step("ship"))).Run(w.Context(), "x", engine.Existing()); !errors.Is(err, engine.ErrChanged) {
				w.Fatal(err)
			}
		},
		kind: inspect.WaitsForFlow,
		why: `Process \d+ on \S* refused it at DATE \(.* ago\): the flow has changed since the run was begun: added: "ship"; ` +
			`add the earlier flow to engine\.Flows of engine\.WithCatalog, or see engine\.AcceptChange\.`,
	},
	"limit": {
		build: func(w *world) {
			w.must(w.store.SetLimit(w.Context(), storage.Limit{Flow: "order", Runs: 1}))
			e := w.engine(flow.Linear("order", blocks()))
			w.serve(e)
			w.must(e.Start(w.Context(), "first"))
			w.wait(time.Second)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForPlace,
		why:  `It waits for a limit: at most 1 at once of order; 1 of them is driven now\. It goes on when one of them ends or waits\.`,
		do:   "ebb limit 2 --flow order", page: "A limit of runs is reached",
	},
	"slots": {
		build: func(w *world) {
			e := w.engine(flow.Linear("order", blocks()))
			w.serve(e, engine.WithSlots(1))
			w.must(e.Start(w.Context(), "first"))
			w.wait(10 * time.Second)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForSlot,
		why: `It is due since DATE \(.*\)\. Process \d+ on \S* serves it, and takes it up when a slot is free: all its slots ` +
			`\(1\) are taken\. Start another process, or give it more slots \(ebb serve --slots, engine\.WithSlots\)\.`,
		page: "All slots of the process are taken",
	},
	"memory": {
		build: func(w *world) {
			e := w.engine(orders(), engine.WithLimits(engine.Limits{Memory: 1}))
			w.serve(e)
			w.wait(10 * time.Second)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForMemory,
		why: `It is due since DATE \(.*\)\. Process \d+ on \S* serves it, but takes up no run now: it uses more memory than its ` +
			`budget\. Start another process, or give it more memory\.`,
		page: "The memory budget of the process is used up",
	},
	"needs": {
		build: func(w *world) {
			e := w.engine(orders())
			w.serve(e)
			w.must(e.Start(w.Context(), "x", engine.Labels(map[string]string{"needs.gpu": "a100"})))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForOffer, why: `It is due since DATE \(.*\), and no process offers what it needs: gpu=a100\.`,
		do: "ebb serve --offer gpu=a100", page: "No process offers what the run needs",
	},
	"listening": {
		build: func(w *world) {
			e := w.engine(flow.Growing("order", listener{}))
			w.serve(e)
			w.must(e.Start(w.Context(), "x"))
			w.wait(time.Second)
		},
		kind: inspect.WaitsForMessage, why: `It listens for a message since DATE \(.*\), such as a signal\.`,
		lists: `waits for a message or an event for "order"`, page: "A growing flow listens (`Growth.Listen`)",
	},
	"job: no process": {
		build: func(w *world) { w.post() }, kind: inspect.WaitsForProcess,
		why:  `It is due since DATE \(.*\), and no process serves its flow order\. Start the program that has the flow\.`,
		page: "A job: no process claims jobs of the flow",
	},
	"job: rate": {
		build: func(w *world) {
			w.must(w.store.SetLimit(w.Context(), storage.Limit{Flow: "order", Rate: 1, Per: time.Minute}))
			w.must(w.store.PostJob(w.Context(), storage.Job{ID: "first", Run: "first", Flow: "order", Created: time.Now()}))
			if _, err := w.store.ClaimJobs(w.Context(), storage.JobClaim{Lease: time.Hour}); err != nil {
				w.Fatal(err)
			}
			w.wait(20 * time.Second)
			w.post()
		},
		kind: inspect.WaitsForRate,
		why: `It waits for a rate: at most 1 new ones in 1m0s of order; 1 of them began in the last 1m0s\. The next may begin at ` +
			`DATE \(in 40 s\)\.`,
		do: "ebb limit --flow order --rate 2/1m0s", page: "A job: a rate is used up",
	},
	"job: needs": {
		build: func(w *world) {
			w.claimant()
			w.post(func(j *storage.Job) { j.Labels = map[string]string{"gpu": "a100"} })
		},
		kind: inspect.WaitsForOffer, why: `It is due since DATE \(.*\), and no process offers what it needs: gpu=a100\.`,
		do: "ebb serve --offer gpu=a100", page: "A job: no process offers what it needs",
	},
	"job: is taken up": {
		build: func(w *world) { w.claimant(); w.post() }, kind: inspect.WaitsForTake,
		why: `It is due since DATE \(.*\)\. Process \d+ on \S* takes it up now\.`,
	},
	"job: is not taken up": {
		build: func(w *world) { w.claimant(); w.post(); w.wait(time.Minute) }, kind: inspect.WaitsForTake,
		why:  `It is due since DATE \(.*\)\. Process \d+ on \S* serves it, and has not taken it up yet: look into its log\.`,
		page: "A process serves the flow and does not take it up",
	},
	"job: later": {
		build: func(w *world) {
			w.post(func(j *storage.Job) { j.NotUntil = time.Now().Add(time.Hour) })
		},
		kind: inspect.WaitsForTime, why: `It waits for its time at DATE \(in 1h0m0s\)\.`, do: "ebb jobs release x",
		page: "A job: its time has not come",
	},
	"job: parked": {
		build: func(w *world) {
			w.post()
			list, err := w.store.ClaimJobs(w.Context(), storage.JobClaim{Lease: time.Hour})
			w.must(err)
			w.must(w.store.EndJob(w.Context(), storage.JobEnd{
				Job: "x", Epoch: list[0].Epoch, ClaimID: list[0].ClaimID, State: states.JobParked,
				Failure: &atom.Failure{Code: "Ebb.NoStart", Message: "no input"},
			}))
		},
		kind: inspect.WaitsForParkedJob, why: `It was set aside, after Ebb\.NoStart: no input\.`, do: "ebb jobs release x",
		page: "A job failed too often",
	},
	"job: dead claim": {
		build: func(w *world) {
			dying := w.store.Join()
			w.post()
			if _, err := dying.ClaimJobs(w.Context(), storage.JobClaim{Lease: time.Hour}); err != nil {
				w.Fatal(err)
			}
			w.must(dying.Close())
		},
		kind: inspect.WaitsForClaim, why: `The process that claimed it has died, and no process serves its flow order\. .*`,
		page: "A job: the process that claimed it has died",
	},
}

// pauses is a language that begins with a timer.
type pauses struct{ listener }

// Grow implements [flow.Language].
func (pauses) Grow(ask *flow.Ask) flow.Growth {
	return flow.Growth{Add: []flow.Spec{{Name: "pause", Kind: flow.Timer, Due: ask.Now.Add(time.Hour)}}}
}

// queued is a task that workers of the queue "cards" do.
type queued struct{ undoFails }

func (queued) Queue(*atom.Call) string { return "cards" }

// undoFails is a task whose undo fails.
type undoFails struct{}

func (undoFails) Execute(context.Context, atom.Values) (atom.Value, error) { return nil, nil }

func (undoFails) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, errors.New("the office is closed")
}

func (undoFails) Reverts() bool { return true }

// dates are the times in sentences.
var dates = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// TestWhy: for each reason for which a run or a job can stand still, all doors say the same true sentence, and what to
// do. Lists, groups and reports of refused runs ask the function that ebb why asks.
//
// Guarantee (Waiting and time): `ebb why` and all other views name the reason for which a run or a job stands still.
func TestWhy(t *testing.T) { //nolint:tparallel // the page is made of what all cases say
	t.Parallel()
	said := map[string][2]string{}
	for _, name := range slices.Sorted(maps.Keys(stops)) {
		c := stops[name]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{T: t, store: memstore.New()}
				c.build(w)
				sentence, do := w.asked(&c, strings.HasPrefix(name, "job: "))
				said[name] = [2]string{sentence, do}
			})
		})
	}
	if t.Failed() {
		return
	}
	var rows []string
	for name, c := range stops {
		do := said[name][1]
		if do != "" {
			do = "`" + do + "`"
		}
		if c.page != "" {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", c.page, said[name][0], do))
		}
	}
	slices.Sort(rows)
	page := reasonsHead + strings.Join(rows, "")
	const file = "../../docs/how-to/stuck-runs.md"
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), page); diff != "" {
		t.Errorf("%s: run the test with -update (-want +got):\n%s", file, diff)
	}
}

const reasonsHead = `<!-- Generated by "go test ./engine/inspect -run TestWhy -update" from the cases of the test. Do not edit. -->

# Find out why a run or a job stands still

` + "`ebb why ID`" + ` says it. ` + "`ebb show`, `list`, `jobs`, `top`, `waiting` and `doctor`" + `, the console and
[the REST API](../reference/api.md) say the same. These are the reasons, with what is said of a run or job ` + "`x`" + `
of the flow ` + "`order`" + `:

| What stands still, or why | ` + "`ebb why x`" + ` | then |
|---|---|---|
`

// asked asks all doors for the reason, and returns what ebb why says without the parts that change.
func (w *world) asked(c *stop, isJob bool) (sentence, do string) {
	w.Helper()
	now := time.Now().Add(-w.behind)
	want := regexp.MustCompile("^" + c.why + "$")
	var sentences []string
	var kinds []inspect.WaitKind
	if isJob {
		job, err := w.store.Job(w.Context(), "x")
		w.must(err)
		waits, err := inspect.NewJobWaits(w.Context(), w.store)
		w.must(err)
		one, err := waits.Of(w.Context(), &job, now)
		w.must(err)
		if one == nil {
			w.Fatal("the job waits for nothing")
		}
		sentences, kinds = []string{one.Sentence(now)}, append(kinds, one.Kind)
		if one.Way() != "" {
			sentences = append(sentences, "It continues with: "+one.Way())
		}
	} else {
		sentences, kinds = w.askedOfRun(c, now)
	}
	text := dates.ReplaceAllString(strings.Join(sentences, "\n"), "DATE")
	at := slices.IndexFunc(sentences, func(s string) bool { return want.MatchString(dates.ReplaceAllString(s, "DATE")) })
	if at < 0 || !strings.Contains(text, c.do) || c.kind != "" && !slices.Contains(kinds, c.kind) {
		w.Fatalf("why says, of kinds %v:\n%s\nwant %s, of kind %s, and %s", kinds, text, c.why, c.kind, c.do)
	}
	sentence = dates.ReplaceAllString(sentences[at], "…")
	sentence = regexp.MustCompile(`\([^()]*\d+ (ms|s)( ago)?\)|\(\d[^()]*\)|\(in [^()]*\)`).ReplaceAllString(sentence, "(…)")
	sentence = regexp.MustCompile(`rocess \d+ on \S+`).ReplaceAllString(sentence, "rocess 4711 on box")
	return strings.ReplaceAll(sentence, "|", "\\|"), c.do
}

// askedOfRun asks all doors for the reason of a run.
func (w *world) askedOfRun(c *stop, now time.Time) (sentences []string, kinds []inspect.WaitKind) {
	w.Helper()
	run, err := w.store.Run(w.Context(), "x")
	w.must(err)
	d, err := inspect.Diagnose(w.Context(), w.store, run)
	w.must(err)
	sentences = d.Sentences(now)
	for _, one := range d.Why(now).Waits {
		kinds = append(kinds, one.Kind)
	}
	if run.State.Ended() {
		return sentences, kinds
	}
	waits := inspect.NewWaits(w.store, inspect.WaitingSearch{Now: now})
	found, err := waits.Describe(w.Context(), []storage.Run{run})
	w.must(err)
	want := c.why
	if c.lists != "" {
		want = regexp.QuoteMeta(c.lists)
	}
	if len(found[0]) == 0 || !regexp.MustCompile(want).MatchString(dates.ReplaceAllString(found[0][0].Sentence(), "DATE")) {
		w.Errorf("a list says %+v, want %s", found[0], want)
	}
	groups, err := inspect.WaitingOf(w.Context(), w.store, inspect.WaitingSearch{Now: now})
	w.must(err)
	kind := c.kind
	if kind == inspect.WaitsForReading {
		kind = inspect.WaitsForExecution
	}
	if !slices.ContainsFunc(groups.Groups, func(g inspect.WaitGroup) bool { return g.Kind == kind && slices.Contains(g.First, "x") }) {
		w.Errorf("the groups are %+v, want one of kind %s", groups.Groups, kind)
	}
	refused, err := inspect.RefusedRuns(w.Context(), w.store, now, 0)
	w.must(err)
	if (len(refused) == 1) != (c.kind == inspect.WaitsForFlow) {
		w.Errorf("refused runs: %v", refused)
	}
	return sentences, kinds
}
