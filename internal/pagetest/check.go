package pagetest

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check fails the test if the file of a page has another text than wanted. With update, it writes the file first.
func Check(tb testing.TB, file, want string, update bool) {
	tb.Helper()
	if update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		tb.Errorf("%s: run the test with -update (-want +got):\n%s", file, diff)
	}
}
