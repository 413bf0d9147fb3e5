//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestBackup copies a database while another process commits. Each copy is the database at one moment, and its runs can
// be resumed.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	writer := start(t, "busy", file, "")
	run := writer.Line()
	if writer.Line() != "1" {
		t.Fatal("the other process has not committed")
	}
	last := int64(0)
	for i := range 5 {
		copied := filepath.Join(dir, fmt.Sprint("copy", i))
		if err := sqlstore.Backup(t.Context(), file, copied); err != nil {
			t.Fatal(err)
		}
		sound(t, copied)
		s := open(t, copied)
		n := whole(t, s, run)
		if n < last {
			t.Errorf("copy %d stands at commit %d, the one before stood at %d", i, n, last)
		}
		last = n
		claim, _, err := s.Begin(t.Context(), run)
		if err == nil {
			err = s.Commit(t.Context(), claim, checkpoint(n))
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := sqlstore.Backup(t.Context(), file, filepath.Join(dir, "copy0")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there was to be overwritten: %v", err)
	}
	if err := sqlstore.Backup(t.Context(), file, filepath.Join(dir, "nowhere", "copy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sqlstore.Backup(ctx, file, filepath.Join(dir, "never")); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := sqlstore.Backup(t.Context(), filepath.Join(dir, "none.db"), filepath.Join(dir, "never")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no database: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".part") || e.Name() == "never" {
			t.Errorf("%s is left", e.Name())
		}
	}
	if last == 0 {
		t.Error("nothing was committed meanwhile")
	}
}

// TestVacuum gives the space of purged runs back, and nothing else.
func TestVacuum(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
		end := storage.Run{ID: ids[i], State: states.FlowSuccess, Input: storage.Held{Data: atom.MustEncode(strings.Repeat("x", 20_000))}}
		if err := s.Create(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	if given, err := s.Vacuum(t.Context()); err != nil || given != 0 {
		t.Errorf("%d bytes were given back, though nothing was purged: %v", given, err)
	}
	if n, err := s.Purge(t.Context(), ids[1:]...); n != len(ids)-1 || err != nil {
		t.Fatalf("%d runs were purged: %v", n, err)
	}
	given, err := s.Vacuum(t.Context())
	if err != nil || given < 5_000_000 {
		t.Errorf("%d bytes were given back: %v", given, err)
	}
	if run, err := s.Run(t.Context(), ids[0]); err != nil || len(run.Input.Data) < 20_000 {
		t.Errorf("what stays was hurt: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, file)
	if info, err := os.Stat(file); err != nil || info.Size() > 1_000_000 {
		t.Errorf("the file has %d bytes: %v", info.Size(), err)
	}
}
