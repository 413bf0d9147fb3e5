package view

import "testing"

// TestSizes reads and shows sizes.
func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"512MiB": 512 << 20, "2GiB": 2 << 30, "1.5GiB": 3 << 29, "1 TiB": 1 << 40, "64KiB": 64 << 10, "4096": 4096, "100B": 100,
		"": 0, "0": 0, "-1": 0, "-5MiB": 0, "lots": 0, "2GB": 0, "2g": 0, "1e9": 0, "NaN": 0, "Inf": 0, "0x10": 0, "9999999TiB": 0, "MiB": 0,
	} {
		if got, ok := ParseSize(text); got != want || ok != (want > 0) {
			t.Errorf("%q is %d, %t; want %d", text, got, ok, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 20: "1 MiB", 3 << 29: "1.5 GiB", 5 << 40: "5120 GiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is shown as %q, want %q", n, got, want)
		}
	}
}
