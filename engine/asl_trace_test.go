package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// checkTrace checks the states of a run that has ended. Each entered state is one visit, which ends once: the history
// says that it was left, or it failed or was aborted. A visit that nodes show has the level of its nodes.
func checkTrace(t *testing.T, name string, store backend.Reader, run string, machine *asl.Machine) {
	t.Helper()
	tracer := machine.Tracer()
	open, paths := map[string]grow.Visit{}, map[string]bool{}
	for e, err := range storage.EachEntry(t.Context(), store, run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != storage.EntryEvent {
			continue
		}
		entered, left := 0, 0
		for _, v := range inspect.Traced(tracer, &e) {
			key := fmt.Sprint(v.Path, " ", v.State)
			was, isOpen := open[key]
			switch v.Stage {
			case grow.VisitEntered:
				if isOpen || paths[v.Path] {
					t.Errorf("%s: event %d enters %s, which was entered before", name, e.Number, v.Path)
				}
				open[key], paths[v.Path] = v, true
				if v.State != "" {
					entered++
				}
				continue
			case grow.VisitTried, grow.VisitDid, grow.VisitBroke:
			case grow.VisitTaken: // it only has the path of the visit
				for _, other := range open {
					isOpen = isOpen || other.State != "" && other.Path == v.Path
				}
			default:
				delete(open, key)
				if v.Stage == grow.VisitLeft && v.State != "" {
					left++
				}
			}
			if !isOpen || v.State != "" && was.Entered != v.Entered {
				t.Errorf("%s: event %d, %s, is about %s, which is not open", name, e.Number, e.Type, v.Path)
			}
		}
		if want := count(strings.HasSuffix(e.Type, "StateEntered")); entered != want {
			t.Errorf("%s: event %d, %s of %s, enters %d states", name, e.Number, e.Type, e.Path, entered)
		}
		if want := count(strings.HasSuffix(e.Type, "StateExited")); left != want {
			t.Errorf("%s: event %d, %s of %s, leaves %d states", name, e.Number, e.Type, e.Path, left)
		}
	}
	for key := range open {
		t.Errorf("%s: %s has not ended", name, key)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
