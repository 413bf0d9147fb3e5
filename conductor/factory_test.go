package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

type fleet struct {
	Hosts []string `json:"hosts"`
}

// provisioning makes a flow with a step and a run for each host of the input, and a pause after the first host.
func provisioning(calls map[string]int) conductor.Factory {
	return func(input atom.Value) (flow.Node, error) {
		var of fleet
		if err := input.Decode(&of); err != nil {
			return nil, err
		}
		if len(of.Hosts) == 0 {
			return nil, errors.New("no hosts")
		}
		root := flow.Linear(of.Hosts[0])
		if of.Hosts[0] != "misnamed" {
			root = flow.Linear("provision")
		}
		for i, host := range of.Hosts {
			count := func(step string) *atom.Atom {
				return atom.Func(step+" "+host, func(context.Context, struct{}) (struct{}, error) {
					calls[step+" "+host]++
					return struct{}{}, nil
				})
			}
			root.Add(count("boot"), flow.Run[struct{}, struct{}]("set up "+host, flow.Linear("setup "+host, count("set up"))))
			if i == 0 {
				root.Add(atom.Func("rest", func(ctx context.Context, _ struct{}) (struct{}, error) {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
					}
					return struct{}{}, context.Cause(ctx)
				}))
			}
		}
		return root, nil
	}
}

// TestFactory: a flow is made from the input of its job, and made again from the stored input by the process that
// resumes the run. A factory that makes another flow leaves the run as it is.
//
// Guarantee (Jobs): The flow of a run that a factory made is made again from the stored input when another process
// resumes the run.
func TestFactory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, calls := memstore.New(), map[string]int{}
		in := fleet{[]string{"a", "b", "c"}}
		post(t, store, jobs.Job{ID: "r", Flow: "provision", Input: in}, jobs.Job{ID: "empty", Flow: "provision"},
			jobs.Job{ID: "misnamed", Flow: "provision", Input: fleet{[]string{"misnamed"}}})
		catalog := func() *conductor.Catalog { return conductor.NewCatalog().Factory("provision", provisioning(calls)) }
		serve(t, store, catalog(), 30*time.Second, engine.WithDrain(0)) // dies in the pause
		for _, id := range []string{"empty", "misnamed"} {
			wantJob(t, store, id, states.JobParked, atom.CodeNoStart)
		}
		other := conductor.NewCatalog().Factory("provision", func(atom.Value) (flow.Node, error) {
			return trip("provision", nothing), nil
		})
		serve(t, store, other, time.Hour)
		wantRun(t, store, "r", states.FlowRunning)
		serve(t, store, catalog(), time.Hour)
		wantJob(t, store, "r", states.JobComplete, "")
		wantRun(t, store, "r", states.FlowSuccess)
		for _, host := range in.Hosts {
			if calls["boot "+host] != 1 || calls["set up "+host] != 1 {
				t.Errorf("calls: %v; want one of each", calls)
			}
		}
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), catalog())
		if err != nil {
			t.Fatal(err)
		}
		of := conductor.Ref{Flow: "provision"}
		if err := c.Start(t.Context(), "direct", of, engine.Input(atom.MustEncode(in))); err != nil {
			t.Error(err)
		}
		of.Version = 2
		if err := c.Start(t.Context(), "versioned", of); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a version of a factory's flow: %v", err)
		}
		serve(t, store, catalog(), time.Hour)
		wantRun(t, store, "direct", states.FlowSuccess)
	})
}

// ordering is a language that begins a run of the flow "provision" with its own input.
type ordering struct{}

// Grow implements [grow.Language].
func (ordering) Grow(ask *grow.Ask) grow.Growth {
	if ask.Cause.Kind != grow.Begin {
		return grow.Growth{End: &grow.End{Value: ask.Run.Input}}
	}
	return grow.Growth{Add: []grow.Spec{{
		Name: "rollout", Kind: grow.Nested, Child: &grow.Child{Flow: "provision", Input: ask.Run.Input},
	}}}
}

// Undo implements [grow.Language].
func (ordering) Undo(*grow.UndoAsk) (atom.Value, error) { return nil, nil }

// TestFactoryOfChild: a run begins a run whose flow is made from its input, and which begins runs itself. Another process
// continues all of them.
//
// Guarantee (Jobs): A run can begin a run whose flow a factory makes; another process makes it again from its input.
func TestFactoryOfChild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, calls := memstore.New(), map[string]int{}
		in := fleet{[]string{"a", "b"}}
		post(t, store, jobs.Job{ID: "r", Flow: "order", Input: in})
		catalog := func() *conductor.Catalog {
			return conductor.NewCatalog().Add(1, flow.Growing("order", ordering{})).Factory("provision", provisioning(calls))
		}
		serve(t, store, catalog(), 30*time.Second, engine.WithDrain(0)) // dies in the pause
		serve(t, store, catalog(), time.Hour)
		wantRun(t, store, "r", states.FlowSuccess)
		wantRun(t, store, "r/rollout", states.FlowSuccess)
		wantRun(t, store, "r/rollout/set up b", states.FlowSuccess)
		for _, host := range in.Hosts {
			if calls["boot "+host] != 1 || calls["set up "+host] != 1 {
				t.Errorf("calls: %v; want one of each", calls)
			}
		}
	})
}

// TestBadFactory: what is wrong with a factory is reported by New.
func TestBadFactory(t *testing.T) {
	t.Parallel()
	f := provisioning(nil)
	_, err := conductor.New(jobs.New(memstore.New(), jobs.Policy{}), conductor.NewCatalog().Add(1, trip("trip", nothing)).
		Factory("trip", f).Factory("a", f).Factory("a", f).Factory("", f).Factory("nil", nil))
	for _, want := range []string{`flow "trip" is in`, `flow "a" is in`, "is empty", `flow "nil" is nil`} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v; want %q", err, want)
		}
	}
}
