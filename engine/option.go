package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/internal/hcslog"
)

// An Option configures an engine, see [New].
type Option interface{ apply(*Engine) error }

// InputOption is an Option and a RunOption: it sets an input for every run of the engine, or for one run.
type InputOption interface {
	Option
	RunOption
}

// Checkpoints determines which changes of a run the engine commits, and how often.
type Checkpoints uint8

// What [WithCheckpoints] can set: how many changes share a commit, and whether a history is stored.
const (
	// Step commits the end of an atom together with the start of the next one. Changes that start no atom are part
	// of the next commit.
	Step Checkpoints = iota
	// Each commits every change of state separately.
	Each
	// NoHistory commits as Step does and stores no history: neither the states of atoms, nor the events of
	// languages. Resuming, undoing and reading results work as usual. Views show no history, and a description of a
	// failure shows only the current states. Use NoHistory for many short runs that no person looks at.
	NoHistory
)

// DefaultParallelism is how many atoms of a run execute at the same time, unless [WithParallelism] sets another
// number.
//
//limit:scheduling atoms of a run that execute at once (`engine.WithParallelism`) | {}* | wait
const DefaultParallelism = 16

type option func(*Engine) error

func (o option) apply(e *Engine) error { return o(e) }

type input struct {
	name  string
	typ   reflect.Type
	value any
}

func (in input) apply(e *Engine) error {
	v, err := atom.Encode(in.value)
	if err != nil {
		return fmt.Errorf("engine: input %q: %w", in.name, err)
	}
	e.inputs[in.name], e.types[in.name] = v, in.typ
	return nil
}

func (in input) begin(b *beginning) error {
	v, err := atom.Encode(in.value)
	if err != nil {
		return fmt.Errorf("engine: input %q: %w", in.name, err)
	}
	b.inputs[in.name] = v
	return nil
}

// With gives the symbol that key names a value, for every run of the engine or for one run. An input takes
// precedence over every atom that provides the same symbol.
func With[T any](key atom.Key[T], value T) InputOption {
	return input{key.Name(), key.Type(), value}
}

// A Symbol is the name of an input and the Go type of its value: an [atom.Key], or [AnyInput].
type Symbol interface {
	// Name returns the name of the input.
	Name() string
	// Type returns the Go type of its value; nil if unknown.
	Type() reflect.Type
}

// AnyInput is for [WithInputs]: each symbol that the flow requires and no atom provides is an input. A misspelled
// name is then reported when a run starts, not by [New].
const AnyInput anyInput = ""

type anyInput string

// Name implements [Symbol].
func (anyInput) Name() string { return "" }

// Type implements [Symbol]. The type is unknown.
func (anyInput) Type() reflect.Type { return nil }

// WithInputs declares symbols whose values each run receives by [With] or [Input].
func WithInputs(symbols ...Symbol) Option {
	return option(func(e *Engine) error {
		for _, s := range symbols {
			switch s {
			case nil:
				return errors.New("engine: a declared input is nil")
			case AnyInput:
				e.open = true
			default:
				e.types[s.Name()] = s.Type()
			}
		}
		return nil
	})
}

// WithTasks sets where the nodes of growing flows find their tasks. Without it they fail with [atom.CodeNoTask].
func WithTasks(t Tasks) Option {
	return option(func(e *Engine) error { e.env.Tasks = t; return nil })
}

// WithParallelism limits how many atoms of a run execute at the same time. With 1 they run one after the other, in
// the order of priority and definition. Child runs are then driven one at a time, too, unless a server drives them.
func WithParallelism(n int) Option {
	return option(func(e *Engine) error {
		if n < 1 {
			return fmt.Errorf("engine: parallelism %d; want at least 1", n)
		}
		e.env.Calls.Parallel = n
		return nil
	})
}

// WithCheckpoints sets which changes the engine commits, and how often. The default is [Step].
func WithCheckpoints(p Checkpoints) Option {
	return option(func(e *Engine) error {
		if p > NoHistory {
			return fmt.Errorf("engine: checkpoints %d; want Step, Each or NoHistory", p)
		}
		e.env.Each, e.env.Quiet = p == Each, p == NoHistory
		return nil
	})
}

// WithLogger logs events of runs to l. The message of an entry is the name of an event, such as run.ended;
// docs/reference/log-events.md lists the events with their levels and attributes. Inputs and results are never logged.
// The engine logs under the name engine. Tasks get l with [atom.Logger]. For log/slog, use [FromSlog]. The default logs
// nothing.
func WithLogger(l hclog.Logger) Option {
	return option(func(e *Engine) error {
		if l == nil {
			return errors.New("engine: the logger is nil")
		}
		e.env.Log = l
		return nil
	})
}

// FromSlog returns a logger for all parts of Ebb that writes to l. Its handler decides what is logged. The attribute
// "logger" of an entry is the name of the part. For nil, FromSlog returns nil.
func FromSlog(l *slog.Logger) hclog.Logger { return hcslog.Logger(l) }

// WithObserver calls f for each event, in order, after the commit. Each run calls f from its own goroutine and
// waits until f returns.
func WithObserver(f func(Event)) Option {
	return option(func(e *Engine) error {
		if f == nil {
			return errors.New("engine: the observer is nil")
		}
		e.env.Observers = append(e.env.Observers, func(ev driver.Event) { f(Event(ev)) })
		return nil
	})
}

// Tasks provides the tasks that languages name.
type Tasks interface {
	// Task returns the body of the task with that name. If Task returns an error, the atom fails with it; the
	// failure's code is [atom.CodeNoTask] unless the error has a code.
	Task(name string) (atom.Body, error)
}

// A Chooser is implemented by [Tasks] that may replace a run that a language starts, see [grow.Nested], by a task,
// such as a mock.
type Chooser interface {
	// Instead reports whether the named task replaces the run that the node at path would start.
	Instead(task, path string) bool
}
