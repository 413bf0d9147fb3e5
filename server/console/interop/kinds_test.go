package interop_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A site is a console with a database.
type site struct {
	dir string
	*server

	crawled sync.Mutex
	pages   []string // of everyPage
}

// page returns the address of a page of the console, with a query of names and values in turn.
func (s *site) page(name string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	address := s.address + "/console/" + name
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address
}

// Runs of the site that all tests share.
const (
	tripRun    = "trip"       // the README's trip: it failed and was undone
	stuckRun   = "stuck-1"    // an undo that failed: a person must decide
	signalRun  = "order-1"    // waits for a signal
	tokenRun   = "approval-1" // waits for the end of a token
	parentRun  = "parent-1"   // has a child
	eachRun    = "each-1"     // has a run of items
	nestedRun  = "nested-1"   // Parallel in Map in ASL
	retryRun   = "retry-1"    // was retried
	sagaRun    = "saga-1"     // SM4C, undone
	creditRun  = "credit-1"   // SM4C, waits for an event
	timerRun   = "timer-1"    // waits for a day
	queueRun   = "queue-1"    // waits for a worker
	largeRun   = "large-1"    // 10,000 atoms side by side
	manyRun    = "many-1"     // a Map of 10,000 items in ASL
	metricRun  = "metric-1"   // failed after a retry and was undone by the server
	secretText = "hunter2-planted-secret"
)

// smallRuns are those of the site with few steps.
var smallRuns = []string{
	tripRun, stuckRun, signalRun, tokenRun, parentRun, eachRun, nestedRun, retryRun, sagaRun, creditRun, timerRun, queueRun,
	metricRun,
}

// shared returns the site that tests share and do not change.
func shared(t *testing.T) *site {
	t.Helper()
	kindsOnce.Do(func() {
		dir, err := os.MkdirTemp("", "ebb-console-") //nolint:usetesting // other tests use it, too
		if err != nil {
			t.Fatal(err)
		}
		atEnd = append(atEnd, func() { _ = os.RemoveAll(dir) }) // a temporary folder
		s := &site{dir: filepath.Join(dir, "trip")}
		command(t, dir, "demo", "--dir", "trip")
		fill(t, s.dir)
		s.server = serve(t, s.dir, "serve", "--log-level", "warn")
		atEnd = append([]func(){s.kill}, atEnd...)
		s.await(t, timerRun, "Day waits until")
		s.await(t, queueRun, "worker")
		s.await(t, creditRun, "creditAnswered")
		s.await(t, metricRun, "REVERTED") // it retried, failed, and was undone
		kinds = s
	})
	if kinds == nil {
		t.Fatal("the site has not started")
	}
	return kinds
}

var (
	kindsOnce sync.Once
	kinds     *site
)

// fill makes runs of many kinds.
func fill(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for name, text := range definitions {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command(t, dir, "run", "nested.asl.json", "--id", nestedRun, "--input", `{"items": ["a", "b"]}`)
	command(t, dir, "run", "many.asl.json", "--id", manyRun)
	saga := filepath.Join("..", "..", "..", "examples", "06_sm4c")
	for _, name := range []string{"trip.sm4c.json", "credit_check.sm4c.yaml"} {
		text, err := os.ReadFile(filepath.Join(saga, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"book.sh", "cancel.sh", "pay.sh"} { // as in the trip, with arguments of SM4C
		text, err := os.ReadFile(filepath.Join(saga, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command(t, dir, "run", "trip.sm4c.json", "--id", sagaRun, "--input", `{"to": "Rome"}`)
	command(t, dir, "post", "credit_check.sm4c.yaml", "--id", creditRun, "--input", `{"application": "A-1", "amount": 900}`)
	command(t, dir, "post", "timer.asl.json", "--id", timerRun, "--label", "team=night")
	command(t, dir, "post", "queue.asl.json", "--id", queueRun)
	command(t, dir, "post", "metric.asl.json", "--id", metricRun)
	changed := strings.Replace(definitions["timer.asl.json"], `"End": true`, `"Next": "Over"}, "Over": {"Type": "Succeed"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "timer.asl.json"), []byte(changed), 0o600); err != nil { // its second version
		t.Fatal(err)
	}
	command(t, dir, "schedule", "add", "nightly", "30 2 * * *", "timer.asl.json", "--zone", "Europe/Rome")
	command(t, dir, "limit", "5", "--flow", "timer")
	command(t, dir, "limit", "1", "--label", "team")

	store, err := sqlstore.Open(ctx, "sqlite:"+filepath.Join(dir, "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	for run, f := range goFlows() {
		var opts []engine.Option
		if run == eachRun {
			opts = append(opts, engine.With(numbers, []int{1, 2, 3}))
		}
		eng, err := engine.New(f, store, opts...)
		if err != nil {
			t.Fatal(err)
		}
		// Some fail, and some wait.
		if _, err := eng.Run(ctx, run, engine.Unload(), engine.Labels(map[string]string{"team": "console"})); err != nil {
			t.Logf("%s: %v", run, err)
		}
	}
}

// numbers are the items of the flow with a run of items.
var numbers = atom.NewKey[[]int]("numbers")

// definitions are files of the site.
var definitions = map[string]string{
	"nested.asl.json": `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.items", "End": true,
		"ItemProcessor": {"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "Left", "States": {"Left": {"Type": "Task", "Resource": "exec:./book.sh left", "End": true}}},
			{"StartAt": "Right", "States": {"Right": {"Type": "Pass", "End": true}}}]}}}}}}`,
	"many.asl.json": `{"StartAt": "Numbers", "States": {
		"Numbers": {"Type": "Pass", "Parameters": {"k.$": "States.ArrayRange(0, 99, 1)"}, "OutputPath": "$.k", "Next": "Each"},
		"Each": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Hundred", "States": {
			"Hundred": {"Type": "Pass", "Parameters": {"k.$": "States.ArrayRange(0, 99, 1)"}, "OutputPath": "$.k", "Next": "Inner"},
			"Inner": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Wait", "Seconds": 0, "End": true}}}}}}}}}`,
	"metric.asl.json": `{"StartAt": "Book", "States": {
		"Book": {"Type": "Task", "Resource": "exec:./book.sh", "Revert": "exec:./cancel.sh", "Next": "Pay"},
		"Pay": {"Type": "Task", "Resource": "exec:./pay.sh", "End": true,
			"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1, "BackoffRate": 1}]}}}`,
	"timer.asl.json": `{"StartAt": "Day", "States": {"Day": {"Type": "Wait", "Seconds": 86400, "End": true}}}`,
	"queue.asl.json": `{"StartAt": "Review", "States": {"Review": {"Type": "Task", "Resource": "worker:review", "End": true}}}`,
}

var errUsed = errors.New("the voucher was used already")

// goFlows returns flows in Go by the id of the run.
func goFlows() map[string]flow.Node {
	pair := func(name string, undo error) *atom.Atom {
		return atom.Pair(name, func(context.Context, struct{}) (string, error) { return secretText, nil },
			func(context.Context, struct{}, atom.Outcome[string]) error { return undo }, atom.Secret())
	}
	tries := 0
	large := flow.Unordered("large")
	for i := range 10_000 {
		large.Add(atom.Func(fmt.Sprintf("atom-%d", i), func(context.Context, struct{}) (int, error) { return i, nil }))
	}
	return map[string]flow.Node{
		stuckRun: flow.Linear("stuck", pair("room", nil), pair("voucher", errUsed), pair("dinner", nil),
			atom.Func("pay", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no money is left") })),
		signalRun: flow.Linear("order", pair("reserve", nil), atom.Awaits[string]("wait-for-payment", "paid", atom.Deferral{Deadline: 24 * time.Hour})),
		tokenRun: flow.Linear("approval", atom.Func("approve", func(context.Context, struct{}) (string, error) { return "", atom.ErrDeferred },
			atom.Deferrable(atom.Deferral{Deadline: 24 * time.Hour}))),
		parentRun: flow.Linear("parent", flow.Run[struct{}, struct{}]("child", flow.Linear("child", pair("inner", nil)))),
		eachRun:   flow.Linear("each", flow.Each("double", numbers, atom.Func("twice", func(_ context.Context, n int) (int, error) { return 2 * n, nil }))),
		retryRun: flow.Linear("retry", atom.Func("flaky", func(context.Context, struct{}) (string, error) {
			if tries++; tries < 3 {
				return "", fmt.Errorf("try %d: the network is down", tries)
			}
			return "up", nil
		})).WithRetry(atom.Times(5, atom.Exponential(0, 0))),
		largeRun: large,
	}
}

// await waits until the page of a run says something.
func (s *site) await(t *testing.T, run, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if text, err := fetch(ctx, s.page("run", "id", run)); err == nil && contains(text, what) {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			text, err := fetch(context.Background(), s.page("run", "id", run))
			t.Fatalf("%s does not say %q: %v %s", run, what, err, text)
		}
	}
}
