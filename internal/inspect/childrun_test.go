package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTreeShowsChildRuns shows, below their node, the items of an Each, and the steps of a flow that runs for each
// item. It shows few of many, and undone ones in the order of the undo.
func TestTreeShowsChildRuns(t *testing.T) {
	t.Parallel()
	numbers := atom.NewKey[[]int]("numbers")
	body := func(name string) *atom.Atom {
		return atom.Pair(name, func(context.Context, struct {
			Item int `json:"item"`
		},
		) (struct{}, error) {
			return struct{}{}, nil
		}, func(context.Context, struct {
			Item int `json:"item"`
		}, atom.Outcome[struct{}],
		) error {
			return nil
		})
	}
	fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, atom.Errorf("No", "no")
	}, atom.NoEffect())
	many, few := make([]int, 40), []int{1, 2}
	for name, c := range map[string]struct {
		body flow.Node
		list []int
		want string
	}{
		"many": {body("pick"), many, `each REVERTED, 10 shown, rest "30 REVERTED"; undone each/39, each/38, each/37`},
		"flow": {
			flow.Linear("f", body("open"), body("close")), few,
			`each REVERTED each/0 REVERTED each/0/open REVERTED each/0/close REVERTED each/1 REVERTED ` +
				`each/1/open REVERTED each/1/close REVERTED; undone each/1/close, each/1/open, each/0/close`,
		},
	} {
		store := memstore.New()
		e, err := engine.New(flow.Linear("order", flow.Each("each", numbers, c.body).WithParallelism(1), fails), store, engine.WithInputs(numbers))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "o", engine.With(numbers, c.list)); err == nil {
			t.Fatal("it did not fail")
		}
		run, err := store.Run(t.Context(), "o")
		if err != nil {
			t.Fatal(err)
		}
		tree, err := inspect.Recorded(t.Context(), store, &run, nil)
		if err != nil {
			t.Fatal(err)
		}
		undo, err := inspect.UndoOf(t.Context(), store, &run)
		if err != nil || undo.Undone != len(tree.Undone)+tree.Forgotten || len(tree.Undone) < 4 {
			t.Errorf("%s: undone %d, %v; the tree lists %d and %d", name, undo.Undone, err, len(tree.Undone), tree.Forgotten)
		}
		for _, s := range tree.Undone {
			if strings.Count(s.Path, "each/") != 1 || !strings.HasPrefix(s.Path, "each/") {
				t.Errorf("%s: undone is %s", name, s.Path)
			}
		}
		steps, _ := tree.Top.Shown()
		got := told(steps[0])
		var undone []string
		for _, s := range tree.Undone[:3] {
			undone = append(undone, s.Path)
		}
		if diff := cmp.Diff(c.want, got+"; undone "+strings.Join(undone, ", ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// told returns a step and the steps below it as a text.
func told(s *inspect.Step) string {
	text := s.Path + " " + s.State.String()
	few, rest := s.Shown()
	if rest != "" {
		return fmt.Sprintf("%s, %d shown, rest %q", text, len(few), rest)
	}
	for _, c := range few {
		text += " " + told(c)
	}
	return text
}
