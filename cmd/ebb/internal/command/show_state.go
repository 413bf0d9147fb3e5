package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/spelling"
	"github.com/ebbflow/ebb/internal/visible"
)

// visitsShown is how many visits of a state are shown as text: half of them the first, half the last.
//
//limit:shown `ebb show --state`: visits as text | {} | `-o json`
const visitsShown = 20

// showState shows each visit of a state, the visit of a path, or the visits inside an iteration or branch.
func (s subcommands) showState(ctx context.Context, store backend.Store, id, state string) error {
	run, err := session.FindRun(ctx, store, id)
	if err != nil {
		return err
	}
	m := machineOf(ctx, store, &run)
	if m != nil {
		known := m.Outline()
		visit, ok := visitIn(state, known)
		if !ok {
			if near := spelling.Nearest(state, known); near != "" {
				return exit.Usagef("--state: the machine has no state %q (did you mean %q?)", state, near)
			}
			return exit.Usagef("--state: the machine has no state %q", state)
		}
		state = visit
	}
	visits := inspect.Visits(ctx, store, &run, tracerOf(m), state)
	if s.JSON() {
		return view.StreamJSON(s.Out, struct {
			Run   string `json:"run"`
			State string `json:"state"`
		}{id, state}, view.ListOf("visits", visits, exit.DatabaseError))
	}
	n := 0
	var last []inspect.Visit // visits that are shown if no more follow
	for v, err := range visits {
		if err != nil {
			return exit.DatabaseError(err)
		}
		if n++; n <= visitsShown/2 {
			view.Visit(s.Out, &v, s.Page())
			continue
		}
		if last = append(last, v); len(last) > visitsShown/2 {
			last = last[1:]
		}
	}
	if more := n - visitsShown/2 - len(last); more > 0 {
		fmt.Fprintf(s.Out, "… %d more visits; all of them: ebb show -o json --state %s %s\n", more, visible.Word(state),
			visible.Word(id))
	}
	for i := range last {
		view.Visit(s.Out, &last[i], s.Page())
	}
	if n == 0 {
		fmt.Fprintf(s.Out, "run %s has not been in %s\n", visible.Line(id), visible.Line(state))
	}
	return nil
}

// visitIn returns what selects the visits that a text names: the visits of a state, or those at the path of a visit, an
// iteration or a branch. The path of a call in a visit, such as Pay/enter in SM4C, selects that visit.
func visitIn(text string, states []string) (string, bool) {
	if slices.Contains(states, text) {
		return text, true
	}
	for path := text; path != ""; path, _ = inspect.CutPath(path) {
		last := nodepath.Last(path)
		if slices.Contains(states, nodepath.State(last)) || // also a state whose name ends like an index
			slices.Contains(states, nodepath.Unescape(nodepath.Unnumbered(last))) {
			return path, true
		}
	}
	return "", false
}
