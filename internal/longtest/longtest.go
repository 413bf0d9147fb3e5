// Package longtest is the one switch for tests that take long.
//
// Without it, go test work runs all tests but storms and tests of scale, in a few minutes. With EBB_TEST_LONG=1, as
// .ci/run sets it, these and more cases run. With EBB_TEST_LONG=all, as the make targets set it, a test runs all its
// cases, also for hours. Under -short, as the race detector runs them, most tests run the fewest.
package longtest

import (
	"os"
	"testing"
)

const variable = "EBB_TEST_LONG"

// On reports whether tests run as in CI, or longer.
func On() bool { return os.Getenv(variable) != "" }

// All reports whether tests run all their cases.
func All() bool { return os.Getenv(variable) == "all" }

// Needs skips a test that runs only in CI, or longer.
func Needs(tb testing.TB) {
	tb.Helper()
	if !On() {
		tb.Skip("takes long: " + variable + "=1 runs it")
	}
}

// Count returns how many cases a test runs: usually, in CI, or all.
func Count(usual, ci, all int) int {
	switch {
	case All():
		return all
	case On():
		return ci
	default:
		return usual
	}
}
