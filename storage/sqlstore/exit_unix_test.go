//go:build unix

package sqlstore_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFilesGoAtCleanExit: the last process that closes a database leaves only the database, also when others were
// killed. A process that closes it earlier leaves the files of those that use it.
func TestFilesGoAtCleanExit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	first, second := gates(file)
	there := func() bool {
		_, a := os.Stat(first)
		_, b := os.Stat(second)
		return a == nil && b == nil
	}
	killed, ends := start(t, "hold", file, ""), start(t, "hold", file, "")
	if killed.Line() == "" || ends.Line() == "" {
		t.Fatal("a child has ended")
	}
	shut(t, open(t, file))
	if !there() {
		t.Fatal("a process deleted the gates of others")
	}
	killed.Kill()
	s := open(t, file)
	ends.EndInput()
	if err := ends.Wait(); err != nil {
		t.Fatal(err)
	}
	if !there() {
		t.Fatal("a process deleted the gates of another")
	}
	shut(t, s)
	if names := slices.Collect(maps.Keys(folder(t, dir))); !slices.Equal(names, []string{"runs.db"}) {
		t.Errorf("left are %v", names)
	}
}
