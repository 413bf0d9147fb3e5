package taskflowtest

import (
	"encoding/json"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/conformance"
)

// A World is what survives a crash: how often each atom was called. It also
// notes the calls of the present run. It is safe for concurrent use.
type World struct {
	mu     sync.Mutex
	counts map[string]int
	calls  []conformance.TaskFlowCall
}

// NewWorld returns a world in which nothing was called yet.
func NewWorld() *World { return &World{counts: map[string]int{}} }

// Calls returns the calls since it was last asked.
func (w *World) Calls() []conformance.TaskFlowCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := append([]conformance.TaskFlowCall{}, w.calls...)
	w.calls = nil
	return calls
}

// note notes a call and returns which of its kind it is of its atom.
func (w *World) note(counter string, call conformance.TaskFlowCall) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if counter != "" {
		key := counter + " " + call.Atom
		w.counts[key]++
		call.N = w.counts[key]
	}
	w.calls = append(w.calls, call)
	return call.N
}

// Show returns a failure as records write it: Name(message), or !Class when the
// engine itself failed the atom.
func Show(f *atom.Failure) string {
	if f.Code == atom.CodeNotFound {
		return "!" + f.Code
	}
	return f.Code + "(" + f.Message + ")"
}

// ShowHistory returns a retry's history as records write it.
func ShowHistory(h atom.History) json.RawMessage {
	tries := make([][2]any, len(h.Tries))
	for i, try := range h.Tries {
		tries[i] = [2]any{try.Value, shown(try.Failures)}
	}
	return atom.MustEncode(tries).JSON()
}

// shown returns failures by the names of their atoms.
func shown(failures []*atom.Failure) map[string]string {
	out := make(map[string]string, len(failures))
	for _, f := range failures {
		out[f.Atom] = Show(f)
	}
	return out
}

func arguments(in atom.Values) map[string]json.RawMessage {
	args := map[string]json.RawMessage{}
	for name, value := range in.All {
		args[name] = value.JSON()
	}
	return args
}
