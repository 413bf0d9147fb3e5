package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testProgress compares the progress of runs with the records of each run.
func testProgress(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"), run("c"))
	for i, id := range []string{"a", "b"} {
		p := begin(t, s, id)
		cp := backend.Checkpoint{Payloads: []backend.Payload{{Ref: 1, Data: large("v")}}}
		cp.Head.Refs = 1
		for j := range 3 {
			path := fmt.Sprint("x", j)
			cp.Atoms = append(cp.Atoms, storage.Atom{
				Path: path, Live: j > 0, State: states.TaskRunning, Signal: "go", Result: storage.Held{Ref: 1},
			})
			cp.Timers = append(cp.Timers, storage.TimerRow{Run: id, Path: path, Due: at(j + i)})
			token := storage.Token{ID: id + path, Run: id, Path: path, Attempt: 1}
			if j%2 == 1 {
				token.Queue = "q"
			}
			cp.Tokens = append(cp.Tokens, token)
		}
		p.write(t, cp)
	}
	runs := ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), storage.RunQuery{}))
	list, cut, err := s.InProgress(t.Context(), runs, 100)
	must(t, "InProgress", err)
	if cut || len(list) != len(runs) {
		t.Fatalf("%d runs, %v", len(list), cut)
	}
	for i := range runs {
		id := runs[i].ID
		atoms := ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), id, storage.AtomQuery{Live: true}))
		for j := range atoms {
			atoms[j].Result.Data = nil
		}
		tokens, timers := list[i].Tokens, list[i].Timers
		slices.SortFunc(tokens, func(a, b storage.Token) int { return strings.Compare(a.Path, b.Path) })
		slices.SortFunc(timers, func(a, b storage.TimerRow) int { return strings.Compare(a.Path, b.Path) })
		same(t, "atoms of "+id, atoms, append([]storage.Atom{}, list[i].Atoms...))
		same(t, "tokens of "+id, ask[[]storage.Token](t, "RunTokens")(s.RunTokens(t.Context(), id)),
			append([]storage.Token{}, tokens...))
		same(t, "timers of "+id, ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), id)),
			append([]storage.TimerRow{}, timers...))
	}
	if _, cut, err = s.InProgress(t.Context(), runs, 3); !cut || err != nil {
		t.Errorf("not all atoms of two runs were read, and it says %v, %v", cut, err)
	}
}
