package engine_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

func step(name string) *atom.Atom {
	return atom.Func(name, func(context.Context, struct{}) (struct{}, error) { fmt.Println(name); return struct{}{}, nil })
}

// Any process can start and serve runs. A waiting run takes no goroutine, no memory and no slot.
func ExampleEngine_Serve() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	eng, err := engine.New(flow.Linear("order", step("reserve"), atom.Awaits[string]("paid", "paid", atom.Deferral{}), step("ship")), memstore.New(),
		engine.WithObserver(func(ev engine.Event) {
			if ev.Path == "" && ev.To == states.FlowSuccess.String() {
				close(ended)
			}
		}))
	if err != nil {
		panic(err)
	}
	served := make(chan error, 1)
	go func() { served <- eng.Serve(ctx, engine.WithSlots(10)) }()

	if err := eng.Start(ctx, "order-1"); err != nil {
		panic(err)
	}
	if err := engine.Signal(ctx, eng.Store(), "order-1", "paid", "yes"); err != nil {
		panic(err)
	}
	<-ended
	stop()
	fmt.Println(<-served)
	// Output:
	// reserve
	// ship
	// <nil>
}

// A run can be driven phase by phase. If the caller leaves the loop, the run is suspended.
func ExampleEngine_Steps() {
	ctx := context.Background()
	eng, err := engine.New(flow.Linear("f", step("a"), step("b")), memstore.New())
	if err != nil {
		panic(err)
	}
	for phase, err := range eng.Steps(ctx, "run-1") {
		if err != nil {
			panic(err)
		}
		if phase == states.EngineAnalyzing {
			break
		}
	}
	fmt.Println("and later")
	_, err = eng.Run(ctx, "run-1")
	fmt.Println(err)
	// Output:
	// a
	// and later
	// b
	// <nil>
}

// stoppedAfterA returns a store with a run of the flow a, b that was suspended
// after a.
func stoppedAfterA(ctx context.Context) backend.Store {
	store := memstore.New()
	eng, err := engine.New(flow.Linear("f", step("a"), step("b")), store)
	if err != nil {
		panic(err)
	}
	for phase, err := range eng.Steps(ctx, "run-1") {
		if err != nil {
			panic(err)
		}
		if phase == states.EngineAnalyzing {
			break
		}
	}
	return store
}

// The flow changes while runs are in flight. They end on the version on which they started. New ones start on the new
// version.
func ExampleFlows() {
	ctx := context.Background()
	store := stoppedAfterA(ctx)
	eng, err := engine.New(flow.Linear("f", step("x"), step("y")), store,
		engine.WithCatalog(engine.Flows(flow.Linear("f", step("a"), step("b")))))
	if err != nil {
		panic(err)
	}
	for _, id := range []string{"run-1", "run-2"} {
		if _, err := eng.Run(ctx, id); err != nil {
			panic(err)
		}
	}
	// Output:
	// a
	// b
	// x
	// y
}

// A run continues with a changed flow on request.
func ExampleAcceptChange() {
	ctx := context.Background()
	store := stoppedAfterA(ctx)
	eng, err := engine.New(flow.Linear("f", step("a"), step("check"), step("b")), store)
	if err != nil {
		panic(err)
	}
	_, err = eng.Run(ctx, "run-1")
	fmt.Println("changed:", errors.Is(err, engine.ErrChanged))
	_, err = eng.Run(ctx, "run-1", engine.AcceptChange())
	fmt.Println(err)
	// Output:
	// a
	// changed: true
	// check
	// b
	// <nil>
}
