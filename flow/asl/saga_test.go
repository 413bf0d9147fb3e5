package asl_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
)

// TestSaga runs the trip of the examples as it is, and as it is in plain ASL,
// with each of its states failing: both cancel the same, in the same order.
func TestSaga(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "examples", "03_trip")
	read := func(name string) *asl.Machine {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return parse(t, string(text))
	}
	ours, plain := read("trip.asl.json"), read("plain.asl.json")
	for _, broken := range []string{"", "book.sh flight", "book.sh hotel", "book.sh car", "pay.sh"} {
		run := func(m *asl.Machine) (booked, cancelled []string, end string) {
			s := simulate(t, m, `{}`, func(c call) answer {
				what := strings.TrimPrefix(c.resource, "exec:./")
				if what == broken {
					return answer{failure: &atom.Failure{Code: "Broken", Message: what}}
				}
				if what, ok := strings.CutPrefix(what, "cancel.sh "); ok {
					cancelled = append(cancelled, what)
				} else {
					booked = append(booked, what)
				}
				return answer{output: `{"booking":1}`}
			})
			if s.end.Failure == nil {
				return booked, cancelled, "well"
			}
			for _, n := range slices.Backward(s.undone) {
				cancelled = append(cancelled, strings.TrimPrefix(n.spec.Undo.Task, "exec:./cancel.sh "))
			}
			return booked, cancelled, s.end.Failure.Code
		}
		booked, cancelled, end := run(ours)
		plainBooked, plainCancelled, plainEnd := run(plain)
		if diff := cmp.Diff([]any{plainBooked, plainCancelled, plainEnd}, []any{booked, cancelled, end}); diff != "" {
			t.Errorf("%q fails (-plain +ours):\n%s", broken, diff)
		}
		if broken == "pay.sh" && strings.Join(cancelled, " ") != "car hotel flight" {
			t.Errorf("cancelled %v", cancelled)
		}
	}
}
