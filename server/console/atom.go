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
	for _, one := range []struct {
		name string
		f    *atom.Failure
	}{{"stack", a.Failure}, {"stack of revert", a.RevertFailure}} {
		if one.f != nil && one.f.Stack != "" {
			b.Values = append(b.Values, value{one.name, text(one.f.Stack)})
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
	var err error
	b.History, b.Next, err = inspect.HistoryPage(ctx, c.store, run, max(from, 0), mostSteps)
	return err
}
