package sqlstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// asNobody calls f without root's right to write everything.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

func shutFile(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadersTakeNoTurn: a user may be allowed to read an old database, because modes were wider
// then. That user can look at its runs while others write, but can lock neither the gates nor the
// owners' files.
//
// Attack (Files): A user who may only read takes a turn or an owner's lock by `flock`.
// Result: Only users who may write can open those files, also beside an older Ebb's database.
// Also: `TestFilesFollowDatabase`.
func TestReadersTakeNoTurn(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	file := filepath.Join(temp, "runs.db")
	must(t, os.Chmod(filepath.Dir(temp), 0o755))
	must(t, os.Chmod(temp, 0o755))
	shut(t, open(t, file))
	must(t, os.Chmod(file, 0o644))
	s := open(t, file)
	defer shut(t, s)
	claim := owned(t, s, "a")
	asNobody(t, func() {
		for name := range folder(t, temp, "runs.db", "runs.db-wal", "runs.db-shm") {
			f, err := os.Open(filepath.Join(temp, name))
			if err == nil {
				err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
				defer shutFile(t, f)
			}
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("who may only read takes the lock of %s: %v", name, err)
			}
		}
		r, err := sqlstore.Open(t.Context(), file, sqlstore.ReadOnly())
		if err != nil {
			t.Error(err)
			return
		}
		defer shut(t, r)
		if owners, err := r.Owners(t.Context()); err != nil || len(owners) != 1 || !owners[0].Alive {
			t.Errorf("owners are %+v, %v", owners, err)
		}
		if err := sqlstore.TryWrite(t.Context(), file); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a write by who may only read: %v", err)
		}
	})
	_, err := raw(t, file).ExecContext(t.Context(), `UPDATE owners SET pid = 2147483647`)
	must(t, err)
	asNobody(t, func() {
		r, err := sqlstore.Open(t.Context(), file, sqlstore.ReadOnly())
		if err != nil {
			t.Error(err)
			return
		}
		defer shut(t, r)
		if owners, err := r.Owners(t.Context()); err != nil || len(owners) != 1 || owners[0].Alive {
			t.Errorf("of a process that has ended, owners are %+v, %v", owners, err)
		}
	})
	must(t, s.Commit(t.Context(), claim, checkpoint(0)))
}

// TestReadOnlyFolder looks at a database where nothing can be written, and fails
// to open it for writing.
//
// Guarantee (G1): A database in a read-only folder can be read, and does not change.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	dir := filepath.Join(temp, "folder")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "runs.db")
	w := open(t, file)
	if err := w.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	goOn(t, w, "a")
	shut(t, w)
	for path, mode := range map[string]os.FileMode{
		filepath.Dir(temp): 0o755, temp: 0o755, // the user without root's rights may pass
		dir: 0o555, file: 0o444,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Error(err)
		}
	})
	before := folder(t, dir)
	asNobody(t, func() {
		s, err := sqlstore.Open(t.Context(), file)
		if err == nil {
			shut(t, s)
		}
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "cannot be written") {
			t.Errorf("Open for writing: %v", err)
		}
		r, err := sqlstore.Open(t.Context(), file, sqlstore.ReadOnly())
		if err != nil {
			t.Error(err)
			return
		}
		defer shut(t, r)
		if run, err := r.Run(t.Context(), "a"); err != nil || run.Seq != 1 {
			t.Errorf("run %+v, %v", run, err)
		}
		if c, err := sqlstore.Examine(t.Context(), file); err != nil || len(c.Schema.Pending) > 0 {
			t.Errorf("it is examined as %+v, %v", c, err)
		}
	})
	if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
		t.Errorf("the folder was changed:\n%s", diff)
	}
}
