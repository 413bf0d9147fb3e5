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
	// Work, if set, is done by each call of a task: it lets time pass.
	Work func(conformance.TaskFlowCall)

	mu     sync.Mutex
	counts map[string]int
	calls  []conformance.TaskFlowCall
	mark   int // how many of calls were made before Mark
	busy   int
}

// NewWorld returns a world in which nothing was called yet.
func NewWorld() *World { return &World{counts: map[string]int{}} }

// Calls returns the calls since it was last asked.
func (w *World) Calls() []conformance.TaskFlowCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := append([]conformance.TaskFlowCall{}, w.calls...)
	w.calls, w.mark = nil, 0
	return calls
}

// Mark marks where Rewind goes back to.
func (w *World) Mark() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark = len(w.calls)
}

// Rewind forgets the calls of atoms since Mark. Questions to retries meanwhile stay.
func (w *World) Rewind() {
	w.mu.Lock()
	defer w.mu.Unlock()
	stay := w.calls[:w.mark]
	for _, call := range w.calls[w.mark:] {
		if call.N == 0 {
			stay = append(stay, call)
			continue
		}
		w.counts[counterOf(&call)]--
	}
	w.calls = stay
}

// Busy returns how many calls of tasks are being made.
func (w *World) Busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy
}

// note notes a call and returns which of its kind it is of its atom. Questions
// are not counted.
func (w *World) note(call conformance.TaskFlowCall) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if counter := counterOf(&call); counter != "" {
		w.counts[counter]++
		call.N = w.counts[counter]
	}
	w.calls = append(w.calls, call)
	return call.N
}

func counterOf(call *conformance.TaskFlowCall) string {
	switch call.Kind {
	case "execute", "retry_execute":
		return "execute " + call.Atom
	case "revert", "retry_revert":
		return "revert " + call.Atom
	default:
		return ""
	}
}

// make records a call of a task, and takes the call's time.
func (w *World) make(call conformance.TaskFlowCall) int {
	call.N = w.note(call)
	if w.Work != nil {
		w.begun(1)
		defer w.begun(-1)
		w.Work(call)
	}
	return call.N
}

func (w *World) begun(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy += n
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
