package engine

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A RunOption sets a property of one run, or of one call. If the run exists, its inputs must be the same, see
// [ErrInputsDiffer], and Run ignores other options for new runs.
// [Rerun], [AcceptChange], [IgnoreSuspend], [Existing] and [Unload] apply to the call.
type RunOption interface{ begin(*beginning) error }

type runOption func(*beginning) error

func (o runOption) begin(b *beginning) error { return o(b) }

// beginning contains the values with which a run starts.
type beginning struct {
	run    storage.Run
	checks []storage.RecordCheck
	inputs map[string]atom.Value
	whole  atom.Value
}

// Input sets the whole input of the run: a map, a struct or an [atom.Value] whose members are the symbols or, for a
// growing flow, any value that its language accepts. The engine encodes it. nil sets nothing.
func Input(v any) RunOption {
	return runOption(func(b *beginning) (err error) {
		if v == nil {
			return nil
		}
		if whole, encoded := v.(atom.Value); encoded {
			b.whole = whole
		} else if b.whole, err = atom.Encode(v); err != nil {
			return fmt.Errorf("engine: the input of the run: %w", err)
		}
		return nil
	})
}

// Attributes passes encoded properties of the run to the language of a growing flow, such as asl.Attributes.
func Attributes(v atom.Value) RunOption {
	return runOption(func(b *beginning) error { b.run.Attrs = v; return nil })
}

// Labels sets the labels of the run, by which it can be found, see [storage.RunQuery], and limited, see
// [storage.Limit]. Keys and values have at most 256 bytes.
func Labels(labels map[string]string) RunOption {
	return runOption(func(b *beginning) error { b.run.Labels = labels; return nil })
}

// Key sets a key that the run holds while it is open, of at most 256 bytes. If another open run holds it,
// the run is not created, and the error wraps a *[storage.KeyTakenError], which names that run. The commit that ends
// the run releases the key, also if the process dies. A
// message of [storage.Message.ToKey] reaches it. A run that is retried after it had ended takes its key again; if
// another run holds the key by then, the retry is refused.
func Key(key string) RunOption {
	return runOption(func(b *beginning) error { b.run.Key = key; return nil })
}

// CreatedAt sets the time at which the run was accepted, see [storage.Run]. Without it, that is when the run is made.
func CreatedAt(t time.Time) RunOption {
	return runOption(func(b *beginning) error { b.run.Created = t; return nil })
}

// Trace starts the run under a W3C traceparent. If the text is not a traceparent, Run returns an error. The store
// keeps it with the run, and the engine passes it to the run's tasks, see [atom.Traceparent], and to its child
// runs.
func Trace(traceparent string) RunOption {
	return runOption(func(b *beginning) error {
		if err := atom.CheckTraceparent(traceparent); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		b.run.Trace = traceparent
		return nil
	})
}

// OnDefinition sets the hash of the stored definition that the run starts on, see [storage.Definition].
func OnDefinition(hash string) RunOption {
	return runOption(func(b *beginning) error { b.run.Definition = hash; return nil })
}

// Unchanged starts the run only if these named records have not changed since the caller read them. The store checks
// them in the transaction that creates the run. If a check does not hold, the run is not created, and the error wraps a
// *[storage.ConflictError].
func Unchanged(checks ...storage.RecordCheck) RunOption {
	return runOption(func(b *beginning) error { b.checks = append(b.checks, checks...); return nil })
}
