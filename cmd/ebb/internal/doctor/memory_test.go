package doctor

import (
	"testing"

	"github.com/ebbflow/ebb/internal/memorybudget"
)

// TestDoctorMemory: the doctor says which limit and budget there are, and warns of a limit
// without a budget that is within it.
func TestDoctorMemory(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct {
		limit, budget int64
		state, says   string
	}{
		{0, 0, OK, "no limit of a control group, and no budget"},
		{0, gib, OK, "no limit of a control group, and a budget of 1 GiB, beyond which a process takes up no more work"},
		{5 * gib, 3 * gib, OK, "a limit of 5 GiB (/x), and a budget of 3 GiB, beyond which a process takes up no more work"},
		{5 * gib, 0, Warning, "a limit of 5 GiB (/x), and no budget: the system may kill the process and all runs in it"},
		{5 * gib, 4 * gib, Warning, "a limit of 5 GiB (/x), and a budget of 4 GiB: the system may kill the process before it is reached"},
	} {
		var found Finding
		d := &doctor{report: func(f *Finding) error { found = *f; return nil }}
		limit := memorybudget.Limit{Bytes: c.limit}
		if c.limit > 0 {
			limit.File = "/x"
		}
		d.memory(limit, c.budget)
		if found.State != c.state || found.Says != c.says || (found.Do == "") != (c.state == OK) {
			t.Errorf("%d, %d: %+v", c.limit, c.budget, found)
		}
	}
}
