package enginetest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine/enginetest"
)

const broken = "ENGINETEST_BROKEN"

// TestSubtests runs this test in another process, where it fails, and checks the output of go test. Each case is a
// subtest with its own name, and only those that show the mistake fail.
func TestSubtests(t *testing.T) {
	t.Parallel()
	if os.Getenv(broken) != "" {
		enginetest.FailAt(t, enginetest.World[*shop]{
			New: newShop, State: (*shop).state,
			Flow: bugs["undo ignores Unknown"].flow,
		})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSubtests$", "-test.v")
	cmd.Env = append(os.Environ(), broken+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the test passed")
	}
	text := string(out)
	for _, want := range []string{
		"--- FAIL: TestSubtests/FailAt/charge/unknown_after_effect ",
		"--- PASS: TestSubtests/FailAt/charge/after_effect ",
		"--- PASS: TestSubtests/FailAt/crash_after_commit_2 ",
		"--- PASS: TestSubtests/FailAt/ship_fails/crash_after_undo_of_charge ",
		"Likely culprit: Revert of charge, told unknown, left State.Paid at 30",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if got := strings.Count(text, "--- FAIL: "); got != 3 { // the case and what it is in
		t.Errorf("%d tests failed:\n%s", got, text)
	}
}
