package engine

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A RunOption sets a property of one run, or of one call. If the run exists already, Run
// ignores options with which a run is begun. [Rerun], [AcceptChange], [IgnoreSuspend] and
// [Unload] apply to the call.
type RunOption interface{ begin(*beginning) error }

type runOption func(*beginning) error

func (o runOption) begin(b *beginning) error { return o(b) }

// beginning is what a run is begun with.
type beginning struct {
	run    storage.Run
	inputs map[string]atom.Value
	whole  atom.Value
}

// Input gives the run its whole input at once: an object whose members are the
// symbols, or, for a growing flow, whatever its language takes.
func Input(v atom.Value) RunOption {
	return runOption(func(b *beginning) error { b.whole = v; return nil })
}

// Attributes tells the flow's language about the run, in that language's terms.
func Attributes(v atom.Value) RunOption {
	return runOption(func(b *beginning) error { b.run.Attrs = v; return nil })
}

// Labels are kept with the run, for search.
func Labels(labels map[string]string) RunOption {
	return runOption(func(b *beginning) error { b.run.Labels = labels; return nil })
}

// Trace begins the run under a W3C traceparent, which is refused when it is none. It
// is kept with the run, and handed on to its tasks, see [atom.Traceparent], and to
// the runs that it begins.
func Trace(traceparent string) RunOption {
	return runOption(func(b *beginning) error {
		if err := atom.CheckTraceparent(traceparent); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		b.run.Trace = traceparent
		return nil
	})
}

// OnDefinition says by hash which stored definition the run begins on.
func OnDefinition(hash string) RunOption {
	return runOption(func(b *beginning) error { b.run.Definition = hash; return nil })
}
