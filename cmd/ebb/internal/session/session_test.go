package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/visible"
)

// TestLogLinesAreLines: a log line with line breaks in it is one line.
//
// Attack (Output and secrets): Line breaks in a log entry, colors and cursor movements on a terminal, such names in a
// diagram.
// Result: Escaped; only the command's own colors pass.
// Also: `cmd/ebb/internal/view: TestOutputInColor`, `flow/draw: TestPictures`.
func TestLogLinesAreLines(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	s := New(nil, nil, &errs)
	s.level = "info"
	s.Logger().Info("a\nb", "error", "one\ntwo\x1b[2J", "stack", []string{"x\ny"})
	if got := strings.TrimSuffix(errs.String(), "\n"); !visible.All(got) || !strings.Contains(got, "two") {
		t.Errorf("the log has %q", got)
	}
}
