package spelling_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/spelling"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	states := []string{"Ship", "Pay", "Pack", "Überweisen"}
	for name, want := range map[string]string{
		"Shipp": "Ship", "Sihp": "Ship", "ship": "Ship", "Pax": "Pay", "Über": "Überweisen", "Ueberweisen": "Überweisen",
		"PACK": "Pack", "Refund": "", "": "", "P": "", strings.Repeat("Ship", 30): "",
	} {
		if got := spelling.Nearest(name, states); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := spelling.Nearest("Shipp", make([]string, spelling.MaxCandidates+1)); got != "" {
		t.Errorf("among too many: %q", got)
	}
}
