package states_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/looplab/fsm"

	"github.com/ebbflow/ebb/states"
)

func TestMachinesAgreeWithTables(t *testing.T) {
	t.Parallel()
	t.Run("flow", func(t *testing.T) { t.Parallel(); testMachine[states.Flow](t) })
	t.Run("task", func(t *testing.T) { t.Parallel(); testMachine[states.Task](t) })
	t.Run("retry", func(t *testing.T) { t.Parallel(); testMachine[states.Retry](t) })
	t.Run("job", func(t *testing.T) { t.Parallel(); testMachine[states.Job](t) })
	t.Run("engine", func(t *testing.T) { t.Parallel(); testMachine[states.Engine](t) })
}

// testMachine fires every event of looplab in every state, and compares the results and refusals with the tables.
func testMachine[S states.Kind](t *testing.T) {
	type step struct {
		From, Event, To string
	}
	var fired []step
	reached := make(map[arrow]bool)
	wasReset := make(map[arrow]bool)
	for _, from := range states.All[S]() {
		for _, event := range states.Machine(from).AvailableTransitions() {
			machine := states.Machine(from)
			if err := machine.Event(t.Context(), event); err != nil && !errors.As(err, new(fsm.NoTransitionError)) {
				t.Fatalf("%s in %s: %v", event, from, err)
			}
			fired = append(fired, step{from.String(), event, machine.Current()})
			if event == states.Reset {
				wasReset[arrow{from.String(), machine.Current()}] = true
			} else {
				reached[arrow{from.String(), machine.Current()}] = true
			}
		}
	}
	for _, from := range states.All[S]() {
		for _, to := range states.All[S]() {
			a := arrow{from.String(), to.String()}
			if err := states.Check(from, to); (err == nil) != reached[a] {
				t.Errorf("%s to %s: the machine gets there: %t, Check says %v", from, to, reached[a], err)
			}
			if err := states.CheckReset(from, to); (err == nil) != wasReset[a] {
				t.Errorf("%s to %s: the machine is reset to there: %t, CheckReset says %v", from, to, wasReset[a], err)
			}
		}
	}

	var listed []step
	for _, p := range states.Pairs[S]() {
		listed = append(listed, step{p.From.String(), p.Event, p.To.String()})
	}
	order := func(a, b step) int { return slices.Compare([]string{a.From, a.Event}, []string{b.From, b.Event}) }
	slices.SortFunc(fired, order)
	slices.SortFunc(listed, order)
	if diff := cmp.Diff(listed, fired); diff != "" {
		t.Errorf("events (-Pairs +machine):\n%s", diff)
	}
}

func TestMachinesAreSeparate(t *testing.T) {
	t.Parallel()
	first, second := states.Machine(states.JobUnclaimed), states.Machine(states.JobUnclaimed)
	if err := first.Event(t.Context(), "claim"); err != nil {
		t.Fatal(err)
	}
	if first.Current() != "CLAIMED" || second.Current() != "UNCLAIMED" {
		t.Errorf("after a claim of the first machine: first %s, second %s", first.Current(), second.Current())
	}
	if err := second.Event(t.Context(), "consume"); err == nil {
		t.Error("an unclaimed job was consumed")
	}
}
