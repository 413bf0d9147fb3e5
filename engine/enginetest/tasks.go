package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/failat"
)

// Tasks are scripted tasks for a flow written in a language, where the real ones
// would be programs and servers. They are given to [engine.WithTasks], and note
// how they were called:
//
//	tasks := new(enginetest.Tasks).
//		On("exec:book.sh", errors.New("busy"), map[string]any{"booking": 17}). // busy first, then booked
//		On("exec:cancel.sh")
//
// Several goroutines may use them at once.
type Tasks struct {
	mu      sync.Mutex
	answers map[string][]any
	calls   []TaskCall
}

// A TaskCall is one call of a scripted task.
type TaskCall struct {
	atom.Call

	Task  string     // its name
	Input atom.Value // input of the task
	Told  string     // outcome that a call to undo was told: done, failed or unknown; "" for others
}

// String shows the call on one line.
func (c TaskCall) String() string {
	text := c.Task + " " + c.Input.String()
	if c.Told != "" {
		text += " (undoes what was " + c.Told + ")"
	}
	return text
}

// On sets the answers of the task of that name. Its calls get the answers in turn, and all further
// calls get the last one. An error is a failure, a func(context.Context, atom.Value) (any, error)
// is called with the input, and anything else is the result. Without answers the result is null.
// All states and runs that call the task share the sequence. A second On for the same task replaces
// the first.
func (s *Tasks) On(task string, answers ...any) *Tasks {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = map[string][]any{}
	}
	if len(answers) == 0 {
		answers = []any{nil}
	}
	s.answers[task] = slices.Clone(answers)
	return s
}

// Calls returns the calls so far, in order.
func (s *Tasks) Calls() []TaskCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Task returns the task of that name, or an error with the names of all tasks.
func (s *Tasks) Task(name string) (atom.Body, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.answers[name]; !ok {
		return nil, fmt.Errorf("enginetest: no answer is scripted for task %q; there are some for: %s",
			name, failat.OrNone(slices.Sorted(maps.Keys(s.answers))))
	}
	return &scripted{s, name}, nil
}

// A scripted is one of the tasks.
type scripted struct {
	tasks *Tasks
	name  string
}

func (b *scripted) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return b.answer(ctx, in, "")
}

func (b *scripted) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	return b.answer(ctx, in, did.String())
}

func (*scripted) Reverts() bool { return true }

func (b *scripted) answer(ctx context.Context, in atom.Values, told string) (atom.Value, error) {
	call := TaskCall{Call: atom.CurrentCall(ctx), Task: b.name, Input: in.Input(), Told: told}
	answer := b.tasks.next(call)
	switch answer := answer.(type) {
	case error:
		return nil, answer
	case func(context.Context, atom.Value) (any, error):
		out, err := answer(ctx, call.Input)
		if err != nil {
			return nil, err
		}
		return atom.Encode(out)
	default:
		return atom.Encode(answer)
	}
}

// next records the call and returns the answer to it.
func (s *Tasks) next(call TaskCall) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	answers := s.answers[call.Task]
	if len(answers) > 1 {
		s.answers[call.Task] = answers[1:]
	}
	return answers[0]
}
