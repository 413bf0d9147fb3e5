package console

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/storage"
)

// atom reads the atom at a path. A state that only computes has none.
func (c *console) atom(ctx context.Context, b *runBody, run *storage.Run, path string) error {
	a, err := c.store.Atom(ctx, run.ID, path)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	shown := inspect.AtomOf(run, &a)
	b.Atom = &shown
	for _, one := range []struct {
		name string
		v    atom.Value
	}{
		{"input", shown.Input}, {"result", shown.Result}, {"details", shown.Details}, {"revert result", shown.RevertResult},
	} {
		if one.v != nil {
			b.Values = append(b.Values, value{one.name, text(one.v.String())})
		}
	}
	for name, f := range map[string]*atom.Failure{"stack": a.Failure, "stack of revert": a.RevertFailure} {
		if f != nil && f.Stack != "" {
			b.Values = append(b.Values, value{name, text(f.Stack)})
		}
	}
	return nil
}

// text returns the beginning of a long text.
func text(s string) string {
	if len(s) <= mostValue {
		return s
	}
	return strings.ToValidUTF8(s[:mostValue], "") + "… (all of it: ebb show -o json)"
}

// history reads a page of the history.
func (c *console) history(ctx context.Context, b *runBody, run *storage.Run, after string) error {
	from, _ := strconv.ParseInt(after, 10, 64) // a text that is no number begins at the start
	for e, err := range inspect.History(ctx, c.store, run, max(from, 0)) {
		if err != nil {
			return err
		}
		if e.Kind == storage.EntryEvent {
			continue
		}
		if len(b.History) == mostSteps {
			b.Next = b.History[mostSteps-1].Seq
			return nil
		}
		b.History = append(b.History, inspect.EntryOf(&run.Secrets, &e))
	}
	return nil
}
