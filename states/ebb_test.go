package states_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/states"
)

func TestEbbPairs(t *testing.T) {
	t.Parallel()
	atom := map[string][]arrow{
		"delay between attempts": {
			{"RETRYING", "REVERTING"},
			{"RETRYING", "FAILURE"},
			{"RETRYING", "CANCELLED"},
		},
		"cancel": {
			{"PENDING", "CANCELLED"},
			{"RUNNING", "CANCELLED"},
			{"CANCELLED", "REVERTING"},
			{"CANCELLED", "PENDING"},
		},
		"resume of a run that is being undone": {{"RUNNING", "REVERTING"}},
		"retry of a failed revert":             {{"REVERT_FAILURE", "REVERTING"}},
		"skip of a failed revert":              {{"REVERT_FAILURE", "REVERTED"}},
		"decider over an undone atom":          {{"REVERTED", "IGNORE"}},
	}
	task := map[string][]arrow{
		"per-task retry":               {{"RUNNING", "RETRYING"}, {"RETRYING", "RUNNING"}, {"RETRYING", "PENDING"}},
		"retry of a language":          {{"FAILURE", "RETRYING"}},
		"retry of a run of a language": {{"FAILURE", "RUNNING"}, {"CANCELLED", "RUNNING"}},
		"revert --to":                  {{"REVERTED", "REVERTING"}},
	}
	maps.Copy(task, atom)
	flow := map[string][]arrow{
		"retry --from":            {{"REVERTED", "RUNNING"}},
		"skip of a failed revert": {{"FAILURE", "REVERTED"}},
		"hold":                    {{"RUNNING", "SUSPENDED"}, {"SUSPENDING", "RUNNING"}},
		"cancel":                  {{"PENDING", "FAILURE"}, {"SUSPENDED", "FAILURE"}, {"SUSPENDED", "REVERTED"}},
		"reset of a failed run":   {{"FAILURE", "PENDING"}},
	}
	job := map[string][]arrow{
		"not-before": {
			{"UNCLAIMED", "SCHEDULED"},
			{"CLAIMED", "SCHEDULED"},
			{"SCHEDULED", "UNCLAIMED"},
			{"SCHEDULED", "CLAIMED"},
		},
		"parked jobs": {
			{"UNCLAIMED", "PARKED"},
			{"CLAIMED", "PARKED"},
			{"SCHEDULED", "PARKED"},
			{"PARKED", "UNCLAIMED"},
		},
		"cancel": {{"UNCLAIMED", "COMPLETE"}, {"SCHEDULED", "COMPLETE"}, {"PARKED", "COMPLETE"}},
	}
	for _, test := range []struct {
		kind      string
		want, got map[string][]arrow
	}{
		{"flow", flow, ebbPairs[states.Flow]()},
		{"task", task, ebbPairs[states.Task]()},
		{"retry", atom, ebbPairs[states.Retry]()},
		{"job", job, ebbPairs[states.Job]()},
		{"engine", map[string][]arrow{}, ebbPairs[states.Engine]()},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.got, cmpopts.SortSlices(before), cmp.AllowUnexported(arrow{})); diff != "" {
				t.Errorf("pairs by feature (-want +got):\n%s", diff)
			}
		})
	}
}

func before(a, b arrow) bool { return a.from+" "+a.to < b.from+" "+b.to }

func ebbPairs[S states.Kind]() map[string][]arrow {
	byFeature := make(map[string][]arrow)
	for _, p := range states.Pairs[S]() {
		if p.Class == states.Ebb {
			byFeature[p.Feature] = append(byFeature[p.Feature], arrow{p.From.String(), p.To.String()})
		}
	}
	return byFeature
}

func TestEbbPairsNameTheirFeature(t *testing.T) {
	t.Parallel()
	t.Run("flow", func(t *testing.T) { t.Parallel(); testFeatures[states.Flow](t) })
	t.Run("task", func(t *testing.T) { t.Parallel(); testFeatures[states.Task](t) })
	t.Run("retry", func(t *testing.T) { t.Parallel(); testFeatures[states.Retry](t) })
	t.Run("job", func(t *testing.T) { t.Parallel(); testFeatures[states.Job](t) })
	t.Run("engine", func(t *testing.T) { t.Parallel(); testFeatures[states.Engine](t) })
}

func testFeatures[S states.Kind](t *testing.T) {
	for _, p := range states.Pairs[S]() {
		switch named := p.Feature != "" && p.Why != ""; {
		case p.Event == "":
			t.Errorf("%s to %s has no event", p.From, p.To)
		case p.Class == states.Ebb && !named:
			t.Errorf("%s to %s is Ebb's, but does not say which feature needs it and why", p.From, p.To)
		case p.Class == states.TaskFlow && (p.Feature != "" || p.Why != ""):
			t.Errorf("%s to %s is TaskFlow's, but names the feature %q", p.From, p.To, p.Feature)
		}
	}
}
