package atom_test

import (
	"testing"

	"github.com/ebbflow/ebb/atom"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	failure := &atom.Failure{Code: "C"}
	for want, o := range map[string]atom.Outcome[int]{
		"done": atom.Done(7), "failed": atom.Failed[int](failure), "unknown": atom.Unknown[int](),
	} {
		if o.String() != want {
			t.Errorf("%s calls itself %s", want, o)
		}
		result, done := o.Done()
		f, failed := o.Failed()
		if done != (want == "done") || failed != (want == "failed") || o.Unknown() != (want == "unknown") {
			t.Errorf("%s is done %t, failed %t, unknown %t", want, done, failed, o.Unknown())
		}
		if done && result != 7 || failed && f != failure {
			t.Errorf("%s holds %d, %v", want, result, f)
		}
		if got := o.Because([]*atom.Failure{failure}).Failures(); len(got) != 1 || got[0] != failure || o.Failures() != nil {
			t.Errorf("%s is undone because of %v", want, got)
		}
	}
	var zero atom.Outcome[int]
	if !zero.Unknown() {
		t.Error("the zero outcome claims to know how it ended")
	}
}
