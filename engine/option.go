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
	"github.com/ebbflow/ebb/storage"
)

// An Option sets something about an engine.
type Option interface{ apply(*Engine) error }

// InputOption is an Option and a RunOption: an input that every run of the
// engine gets, or only one.
type InputOption interface {
	Option
	RunOption
}

// Checkpoints says which changes of a run are committed, and how often.
type Checkpoints uint8

// The policies.
const (
	// Step commits the end of an atom together with the start of the next; what
	// only computes rides along.
	Step Checkpoints = iota
	// Each commits every change of state by itself.
	Each
	// NoHistory commits as Step does and keeps no history: neither which states atoms went
	// through, nor the events that languages report. Resuming, undoing and reading results work
	// as usual. Views show no history, and Explain shows only the present states. Use
	// NoHistory for many short runs that no person looks at.
	NoHistory
)

// DefaultParallelism is how many atoms of a run execute at once unless
// [WithParallelism] says otherwise.
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

// With gives the symbol called key the value: for every run of the engine, or
// for one. An input beats every atom that provides the same symbol.
func With[T any](key atom.Key[T], value T) InputOption {
	return input{key.Name(), key.Type(), value}
}

// A Symbol is the name of an input and the Go type of its value: an [atom.Key], or
// [AnyInput].
type Symbol interface {
	Name() string
	Type() reflect.Type
}

// AnyInput is for [WithInputs]: each symbol that the flow requires and no atom provides is
// an input. A misspelled name is then reported when a run starts, not by [New].
const AnyInput anyInput = ""

type anyInput string

// Name implements [Symbol].
func (anyInput) Name() string { return "" }

// Type implements [Symbol]. The type is unknown.
func (anyInput) Type() reflect.Type { return nil }

// WithInputs declares symbols whose values each run will be given by [With] or [Input].
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

// WithStore keeps runs in s. The default is a store in memory of the engine's
// own.
func WithStore(s storage.Store) Option {
	return option(func(e *Engine) error {
		if s == nil {
			return errors.New("engine: the store is nil")
		}
		e.env.Store = s
		return nil
	})
}

// WithTasks says where the nodes of growing flows find their tasks. Without it
// they fail with [atom.CodeNoTask].
func WithTasks(t Tasks) Option {
	return option(func(e *Engine) error { e.env.Tasks = t; return nil })
}

// WithParallelism limits how many atoms of a run execute at once. With 1 they
// run one after the other, in the order of priority and definition.
func WithParallelism(n int) Option {
	return option(func(e *Engine) error {
		if n < 1 {
			return fmt.Errorf("engine: parallelism %d; want at least 1", n)
		}
		e.env.Calls.Parallel = n
		return nil
	})
}

// WithCheckpoints sets which changes are committed, and how often. The default is [Step].
func WithCheckpoints(p Checkpoints) Option {
	return option(func(e *Engine) error {
		if p > NoHistory {
			return fmt.Errorf("engine: checkpoints %d; want Step, Each or NoHistory", p)
		}
		e.env.Each, e.env.Quiet = p == Each, p == NoHistory
		return nil
	})
}

// WithLogger logs to l what happens to runs: their begin and end at Info, each
// transition at Debug. Values are never logged. The default logs nothing.
func WithLogger(l hclog.Logger) Option {
	return option(func(e *Engine) error {
		if l == nil {
			return errors.New("engine: the logger is nil")
		}
		e.env.Log = l
		return nil
	})
}

// WithSlog is [WithLogger] for programs that log with [log/slog].
func WithSlog(l *slog.Logger) Option {
	return option(func(e *Engine) error {
		if l == nil {
			return errors.New("engine: the logger is nil")
		}
		e.env.Log = hcslog.Logger(l.Handler())
		return nil
	})
}

// WithObserver calls f about everything that happened, in order, after it was
// committed. Each run calls it from its own goroutine and waits for it.
func WithObserver(f func(Event)) Option {
	return option(func(e *Engine) error {
		if f == nil {
			return errors.New("engine: the observer is nil")
		}
		e.env.Observers = append(e.env.Observers, func(ev driver.Event) { f(Event(ev)) })
		return nil
	})
}

// Tasks finds the tasks that languages name.
type Tasks interface {
	// Task returns the body of the task of that name. An error is the failure of
	// the atom that wanted it; its code is [atom.CodeNoTask] unless it has one.
	Task(name string) (atom.Body, error)
}

// A Chooser is [Tasks] that may do by a task what a language would have a run of its own
// do, see [flow.Spec]: because the user has given one, or a mock.
type Chooser interface {
	// Instead reports whether the task of that name does what the node at path is
	// to do.
	Instead(task, path string) bool
}
