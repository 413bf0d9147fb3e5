package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// ErrInputsDiffer is returned, wrapped, if the run exists, and was started with other inputs than the caller gives. The
// error names them. The same inputs, or none, attach to the run, and so does [Existing] with any.
var ErrInputsDiffer = errors.New("engine: the run exists with other inputs")

// checkSame returns [ErrInputsDiffer] if the options give a run of the engine's flow other inputs than it has.
func (e *Engine) checkSame(run *storage.Run, opts []RunOption) error {
	if has[existing](opts) {
		return nil
	}
	p := e.planOf(run)
	if p == nil || p.Flow != e.plan.Flow { // which Run reports
		return nil
	}
	b := &beginning{inputs: maps.Clone(e.inputs)}
	for _, opt := range opts {
		if err := opt.begin(b); err != nil {
			return err
		}
	}
	return differ(p, run, b.inputs, b.whole)
}

// existing adds to the error of a run that was not created because it exists that it has other inputs.
func (n *NewRun) existing(ctx context.Context, store backend.Reader, p *flow.Plan, err error) error {
	if !errors.Is(err, storage.ErrExists) || p == nil {
		return err
	}
	run, failed := store.Run(ctx, n.Run)
	if failed != nil || run.Flow != p.Flow {
		return err
	}
	if other := differ(p, &run, nil, n.Snapshot.Run.Input.Data); other != nil {
		return &saidError{other.Error(), errors.Join(other, err)}
	}
	return err
}

// differ returns [ErrInputsDiffer] if a run has other inputs than the given, or than the whole input that is given. It
// compares what the Go types of the flow make of them, so a field that was added to a type since makes no difference.
func differ(p *flow.Plan, run *storage.Run, given map[string]atom.Value, whole atom.Value) error {
	if p.Grows() {
		if whole == nil || equal(nil, whole, run.Input.Data) {
			return nil
		}
		return fmt.Errorf("%w: run %q; choose another id", ErrInputsDiffer, run.ID)
	}
	if whole != nil {
		var err error
		if given, err = driver.SymbolsOf(whole); err != nil {
			return err
		}
	}
	if len(given) == 0 && whole == nil {
		return nil
	}
	stored, err := driver.SymbolsOf(run.Input.Data)
	if err != nil {
		return err
	}
	types := map[string]reflect.Type{} // of the inputs that the flow takes
	for _, in := range p.Inputs {
		types[in.Symbol] = in.Type
	}
	names := slices.Collect(maps.Keys(given))
	if whole != nil {
		names = slices.AppendSeq(names, maps.Keys(stored))
	}
	slices.Sort(names)
	var others []string
	for _, s := range slices.Compact(names) {
		if (stored[s] != nil || p.Knows(s)) && !equal(types[s], given[s], stored[s]) {
			others = append(others, quote(s))
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%w: run %q has another %s; choose another id, or go on with what it has by engine.Existing",
		ErrInputsDiffer, run.ID, strings.Join(others, ", "))
}

// equal reports whether two values are the same as a type; nil means that it is not known. Nil values differ from all
// others.
func equal(t reflect.Type, a, b atom.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if t == nil {
		t = reflect.TypeFor[any]()
	}
	return slices.Equal(asType(t, a), asType(t, b))
}

// asType returns the text of a value that was decoded into a type; its own text if it cannot be decoded.
func asType(t reflect.Type, v atom.Value) json.RawMessage {
	into := reflect.New(t)
	if _, stored := atom.StoredListOf(v); stored || decodes(v, t) != nil || v.Decode(into.Interface()) != nil {
		return v.JSON()
	}
	again, err := atom.Encode(into.Elem().Interface())
	if err != nil {
		return v.JSON()
	}
	return again.JSON()
}
