package sqlstore

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLogSpace commits until the log was extended several times. Each time it opens the files that a killed process
// would leave, a log with zeros after its frames. Every commit is there. A short run does not extend the log.
func TestLogSpace(t *testing.T) {
	t.Parallel()
	const short = 10
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	claim, space := beginRun(t, s, "a"), s.writer.space
	for commits, longer := int64(0), 0; longer < 3; commits++ {
		before := space.size
		if err := s.Commit(t.Context(), claim, nth(commits)); err != nil {
			t.Fatal(err)
		}
		if space.size == before || space.full() {
			continue
		}
		longer++
		if commits < short {
			t.Errorf("the log was made longer by commit %d", commits)
		}
		if n := space.size - before; n > 2*spaceFrames*frameSize {
			t.Errorf("the log was made longer by %d bytes", n)
		}
		left := openFile(t, copyLeft(t, file))
		if r, err := left.Run(t.Context(), "a"); err != nil || r.Seq != commits+1 {
			t.Errorf("after commit %d, opened anew: the run stands at %d, %v", commits, r.Seq, err)
		}
	}
}

// copyLeft copies the files that a killed process would leave of a database.
func copyLeft(t *testing.T, file string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "left.db")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(file + end)
		if err == nil {
			err = os.WriteFile(to+end, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
