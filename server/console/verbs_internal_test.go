package console

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/server/api"
)

// TestVerbs: each command of the API has a label and an effect, and nothing else has.
func TestVerbs(t *testing.T) {
	t.Parallel()
	var names []string
	for _, o := range (*api.API)(nil).Operations() {
		name := o.Of + " " + o.Name
		names = append(names, name)
		if v := verbs[name]; v.label == "" || v.effect == "" {
			t.Errorf("verbs has no words for %q", name)
		}
	}
	for name := range verbs {
		if !slices.Contains(names, name) {
			t.Errorf("verbs has words for %q, which is no command", name)
		}
	}
}
