package metrics

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestLargestRun: the size of the largest run is reported while it is driven, and not after its release.
func TestLargestRun(t *testing.T) {
	t.Parallel()
	file, err := sqlstore.Open(context.Background(), filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	m := New(file)
	store := backend.Of(m.Store())
	var claims []backend.Claim
	for i, bytes := range []int64{10, 5 << 30, 0} {
		claim, _, err := backend.ClaimNew(storage.Run{ID: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		head := backend.Head{State: states.FlowRunning, Growth: storage.Growth{Bytes: bytes}}
		if err := store.Commit(t.Context(), claim, &backend.Checkpoint{Head: head}); err != nil {
			t.Fatal(err)
		}
		claims = append(claims, claim)
	}
	if got := scraped(t, m)["ebb_largest_run_bytes"]; got != 5<<30 {
		t.Errorf("the largest has written %v", got)
	}
	if err := store.Release(t.Context(), claims[1], 0, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := scraped(t, m)["ebb_largest_run_bytes"]; got != 10 {
		t.Errorf("without the largest, it is %v", got)
	}
}

// series returns how many series a collector has.
func series(c prometheus.Collector) (n int) {
	all := make(chan prometheus.Metric)
	go func() {
		c.Collect(all)
		close(all)
	}()
	for range all {
		n++
	}
	return n
}

// TestNamesAreBounded observes atoms of more flows, and more atoms of one flow, than may have names of their own: the
// series do not grow further, and those that came first keep their names.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	m := New(nil)
	observe := func(flow, path string) {
		m.Observe(engine.Event{Kind: engine.AtomChanged, Flow: flow, Path: path, To: states.TaskSuccess.String()})
		m.Observe(engine.Event{Kind: engine.AtomChanged, Flow: flow, Path: path, To: states.TaskRetrying.String()})
		m.Observe(engine.Event{Kind: engine.FlowChanged, Flow: flow, To: states.FlowSuccess.String()})
		failure := &atom.Failure{Code: flow + path}
		m.Observe(engine.Event{Kind: engine.FlowChanged, Flow: flow, To: states.FlowFailure.String(), Failure: failure})
		m.Observe(engine.Event{Kind: engine.FlowChanged, Flow: ownFlows + path, To: states.FlowFailure.String(), Failure: failure})
	}
	for i := range 2 * maxAtoms {
		observe("a", fmt.Sprint("Ship[", i, "]/Pack#", i))
		observe("a", fmt.Sprint("page-", i))
		observe(fmt.Sprint("flow-", i), "Pay")
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"flows of runs", series(m.runs), 2 * (maxFlows + 1)},
		{"flows of retries", series(m.retries), maxFlows + 1},
	} {
		if c.got != c.want {
			t.Errorf("%d %s; want %d", c.got, c.what, c.want)
		}
	}
	if n := series(m.failures); n < maxCodes || n > maxCodes+maxFlows+1 {
		t.Errorf("%d series of failures", n)
	}
	if n := series(m.atoms); n > maxAtoms+maxFlows+1 {
		t.Errorf("%d series of atoms", n)
	}
	for _, of := range []struct{ flow, path, flowName, atomName string }{
		{"a", "Ship[9999]/Pack#2", "a", "Ship/Pack"},
		{"a", "page-9999", "a", other},
		{"flow-0", "Pay", "flow-0", "Pay"},
		{"flow-9999", "Pay", other, other},
	} {
		if f, a := m.atom(of.flow, of.path); f != of.flowName || a != of.atomName {
			t.Errorf("%s of %s is %s of %s", of.path, of.flow, a, f)
		}
	}
}
