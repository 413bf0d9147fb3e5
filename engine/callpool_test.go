package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestBlockingCalls runs tasks that end only when all of them have started.
func TestBlockingCalls(t *testing.T) {
	const n = 50
	var all sync.WaitGroup
	all.Add(n)
	nodes := make([]flow.Node, n)
	for i := range nodes {
		nodes[i] = atom.Func(fmt.Sprint("t", i), func(context.Context, struct{}) (struct{}, error) {
			all.Done()
			all.Wait()
			return struct{}{}, nil
		})
	}
	eng, err := engine.New(flow.Unordered("f", nodes...), memstore.New(), engine.WithParallelism(n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
}

// TestGoexit runs tasks that end their goroutine, alone and beside others.
func TestGoexit(t *testing.T) {
	vanish := func(context.Context, struct{}) (struct{}, error) {
		runtime.Goexit()
		return struct{}{}, nil
	}
	for _, parallel := range []int{1, 4} {
		for _, f := range []flow.Node{
			flow.Linear("f", atom.Func("a", noop), atom.Func("b", vanish), atom.Func("c", noop)),
			flow.Unordered("f", atom.Func("a", noop), atom.Func("b", vanish), atom.Func("c", vanish), atom.Func("d", noop)),
		} {
			eng, err := engine.New(f, memstore.New(), engine.WithParallelism(parallel))
			if err != nil {
				t.Fatal(err)
			}
			_, err = eng.Run(t.Context(), "r")
			failed, is := errors.AsType[*engine.FailedError](err)
			if !is || failed.Failures[0].Atom != "b" || failed.Failures[0].Message != "the called code ended its goroutine, as runtime.Goexit does" {
				t.Errorf("%d at a time: %v; want that b ended its goroutine", parallel, err)
			}
		}
	}
}
