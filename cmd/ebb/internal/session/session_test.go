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

// TestLevelsOfParts: a part of the program has a level of its own, and lines do not show its name.
func TestLevelsOfParts(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		asText: "[WARN]  ebb: a\n[DEBUG] ebb: b: run=r\n", asJSON: `"level":"WARN","msg":"a"}` + "\n" + `"level":"DEBUG","msg":"b","run":"r"}` + "\n",
	} {
		var errs bytes.Buffer
		s := New(nil, nil, &errs)
		s.level, s.format = "warn,engine=debug,store=off", format
		log := s.Logger()
		log.Info("not logged")
		log.Named("conductor").Info("not logged")
		log.Named("store").Error("not logged")
		log.Named("conductor").Warn("a")
		log.Named("engine").With("run", "r").Debug("b")
		log.Warn("c")
		got := ""
		for line := range strings.Lines(errs.String()) {
			_, after, _ := strings.Cut(line, map[string]string{asText: " ", asJSON: ","}[format])
			got += after
		}
		want += map[string]string{asText: "[WARN]  ebb: c\n", asJSON: `"level":"WARN","msg":"c"}` + "\n"}[format]
		if got != want {
			t.Errorf("%s: logged\n%swant\n%s", format, got, want)
		}
	}
	for _, wrong := range []string{"loud", "warn,engine=loud", "engine="} {
		if _, _, err := parseLevels(wrong); err == nil {
			t.Errorf("%s was taken for levels", wrong)
		}
	}
}
