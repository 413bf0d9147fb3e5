package listen_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/listen"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// undone is a flow whose second task fails, so that its first is undone. It takes a minute forward and a second back.
func undone() flow.Node {
	first := atom.Pair("first",
		func(ctx context.Context, _ struct{}) (int, error) {
			atom.Progress(ctx, 0.5, "half")
			time.Sleep(time.Minute)
			return 7, nil
		},
		func(context.Context, struct{}, atom.Outcome[int]) error { time.Sleep(time.Second); return nil }, atom.As("n"))
	second := atom.Func("second", func(context.Context, struct{}) (int, error) { return 0, errors.New("no") })
	return flow.Linear("f", first, second)
}

// observe runs the flow in virtual time.
func observe(t *testing.T, observers ...func(engine.Event)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts := make([]engine.Option, len(observers))
		for i, f := range observers {
			opts[i] = engine.WithObserver(f)
		}
		eng, err := engine.New(undone(), memstore.New(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); !errors.As(err, new(*engine.RevertedError)) {
			t.Fatal(err)
		}
	})
}

func TestDurations(t *testing.T) {
	t.Parallel()
	var got []string
	observe(t, listen.Durations(func(path string, took time.Duration) { got = append(got, fmt.Sprint(path, " ", took)) }))
	want := []string{"first 1m0s", "second 0s", "second 0s", "first 1s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var got []string
	observe(t, listen.Progress(func(path string, fraction float64, details atom.Value) {
		got = append(got, fmt.Sprint(path, " ", fraction, " ", details))
	}))
	want := []string{
		"first 0 ", `first 0.5 "half"`, "first 1 ", "second 0 ",
		"second 0 ", "second 1 ", "first 0 ", "first 1 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	var seen listen.Capture
	observe(t, seen.Observe)
	if diff := cmp.Diff([]string{"RUNNING", "SUCCESS", "REVERTING", "REVERTED"}, seen.States("first")); diff != "" {
		t.Errorf("states of first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"RUNNING", "REVERTED"}, seen.States("")); diff != "" {
		t.Errorf("states of the run (-want +got):\n%s", diff)
	}
	if n := len(seen.Events()); n != 11 {
		t.Errorf("%d events", n)
	}
}
