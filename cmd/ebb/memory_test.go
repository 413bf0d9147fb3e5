package main

import (
	"testing"

	"github.com/ebbflow/ebb/internal/memorybudget"
)

// TestSizes reads and shows sizes.
func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"512MiB": 512 << 20, "2GiB": 2 << 30, "1.5GiB": 3 << 29, "1 TiB": 1 << 40, "64KiB": 64 << 10, "4096": 4096, "100B": 100,
		"": 0, "0": 0, "-1": 0, "-5MiB": 0, "lots": 0, "2GB": 0, "2g": 0, "1e9": 0, "NaN": 0, "Inf": 0, "0x10": 0, "9999999TiB": 0, "MiB": 0,
	} {
		if got, ok := parseSize(text); got != want || ok != (want > 0) {
			t.Errorf("%q is %d, %t; want %d", text, got, ok, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 20: "1 MiB", 3 << 29: "1.5 GiB", 5 << 40: "5120 GiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is shown as %q, want %q", n, got, want)
		}
	}
}

// TestDoctorMemory: the doctor says which limit and budget there are, and warns of a limit
// without a budget that is within it.
func TestDoctorMemory(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct {
		limit, budget int64
		state, says   string
	}{
		{0, 0, isOK, "no limit of a control group, and no budget"},
		{0, gib, isOK, "no limit of a control group, and a budget of 1 GiB, beyond which a process takes up no more work"},
		{5 * gib, 3 * gib, isOK, "a limit of 5 GiB (/x), and a budget of 3 GiB, beyond which a process takes up no more work"},
		{5 * gib, 0, isWarning, "a limit of 5 GiB (/x), and no budget: the system may kill the process and all runs in it"},
		{5 * gib, 4 * gib, isWarning, "a limit of 5 GiB (/x), and a budget of 4 GiB: the system may kill the process before it is reached"},
	} {
		var found finding
		d := &doctor{tell: func(f *finding) error { found = *f; return nil }}
		limit := memorybudget.Limit{Bytes: c.limit}
		if c.limit > 0 {
			limit.File = "/x"
		}
		d.memory(limit, c.budget)
		if found.State != c.state || found.Says != c.says || (found.Do == "") != (c.state == isOK) {
			t.Errorf("%d, %d: %+v", c.limit, c.budget, found)
		}
	}
}
