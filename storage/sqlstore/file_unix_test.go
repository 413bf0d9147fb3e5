//go:build unix

package sqlstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// modes returns the modes of the files in a folder, by the ends of their names after the database's. Owners' files
// count as one.
func modes(t *testing.T, file string) map[string]fs.FileMode {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]fs.FileMode{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(e.Name(), "."), filepath.Base(file))
		if strings.HasPrefix(name, "-owner-") {
			name = "-owner"
		}
		out[name] = info.Mode().Perm()
	}
	return out
}

// gates returns the names of the files at whose locks processes wait for their turn to write.
func gates(file string) (first, second string) {
	hidden := filepath.Join(filepath.Dir(file), "."+filepath.Base(file))
	return hidden + "-turn-a", hidden + "-turn-b"
}

func allOf(mode fs.FileMode) map[string]fs.FileMode {
	return map[string]fs.FileMode{"": mode, "-wal": mode, "-shm": mode, "-turn-a": mode, "-turn-b": mode, "-owner": mode}
}

// TestFileModes: with any umask, only its user may use the files of a new database or, on request, all users that may
// write to the folder.
//
// Attack (Files): Another user reads the database under a umask of 022 or 0.
// Result: Mode 0600, or that of users who may write to the folder.
// Also: `TestBackupMode`.
func TestFileModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder fs.FileMode
		shared string
		want   fs.FileMode
	}{
		{0o777, "", 0o600},
		{0o770, "", 0o600},
		{0o770, "yes", 0o660},
		{0o775, "yes", 0o660},
		{0o755, "yes", 0o600},
		{0o777, "yes", 0o666},
	} {
		for _, umask := range []string{"0", "22", "77", "777"} {
			t.Run(fmt.Sprintf("%o %s %s", c.folder, c.shared, umask), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.Chmod(dir, c.folder); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(dir, "runs.db")
				p := start(t, "hold", file, "", "SQLSTORE_UMASK="+umask, "SQLSTORE_SHARED="+c.shared)
				if p.Line() == "" {
					t.Fatal("the child has ended")
				}
				if diff := cmp.Diff(allOf(c.want), modes(t, file)); diff != "" {
					t.Errorf("modes (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestFilesFollowDatabase: the files beside an existing database are for the users that
// may write it. Ebb does not change the mode of the database.
func TestFilesFollowDatabase(t *testing.T) {
	t.Parallel()
	for is, want := range map[fs.FileMode]fs.FileMode{0o644: 0o600, 0o660: 0o660, 0o664: 0o660, 0o640: 0o600} {
		t.Run(is.String(), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			shut(t, open(t, file))
			must(t, os.Chmod(file, is))
			first, second := gates(file)
			for name, mode := range map[string]fs.FileMode{first: 0o644, second: 0o666} { // left by a process that died
				must(t, os.WriteFile(name, nil, mode))
				must(t, os.Chmod(name, mode))
			}
			s := open(t, file)
			defer shut(t, s)
			all := allOf(want)
			all[""], all["-wal"], all["-shm"] = is, is, is // which are SQLite's own
			if diff := cmp.Diff(all, modes(t, file)); diff != "" {
				t.Errorf("modes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBackupMode: a copy is as private as a new database.
func TestBackupMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "runs.db")
	shut(t, open(t, file))
	for name, opts := range map[string][]sqlstore.Option{"private": nil, "shared": {sqlstore.FolderMode()}} {
		if err := sqlstore.Backup(t.Context(), file, filepath.Join(dir, name), opts...); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if want := map[string]fs.FileMode{"private": 0o600, "shared": 0o660}[name]; err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v (%v)", name, info.Mode(), err)
		}
	}
}

// TestPlantedFiles: Ebb refuses files of another user in place of its own, and does not touch the targets of links.
//
// Attack (Files): In a folder that all may write to: another user's database or lock file; a link, pipe or folder as a
// lock file.
// Result: Ebb uses only files of its own user, root or the folder's owner, and follows no links for locks.
func TestPlantedFiles(t *testing.T) {
	t.Parallel()
	first := func(file string) string { a, _ := gates(file); return a }
	second := func(file string) string { _, b := gates(file); return b }
	for name, plant := range map[string]func(t *testing.T, dir, file string){
		"link for a gate":     func(t *testing.T, dir, file string) { link(t, filepath.Join(dir, "prey"), first(file)) },
		"link to nothing":     func(t *testing.T, dir, file string) { link(t, filepath.Join(dir, "nothing"), second(file)) },
		"pipe for a gate":     func(t *testing.T, _, file string) { must(t, syscall.Mkfifo(first(file), 0o666)) },
		"folder for a gate":   func(t *testing.T, _, file string) { must(t, os.Mkdir(first(file), 0o777)) },
		"database of another": func(t *testing.T, _, file string) { plantFor(t, file) },
		"log of another":      func(t *testing.T, _, file string) { plantFor(t, file+"-wal") },
		"index of another":    func(t *testing.T, _, file string) { plantFor(t, file+"-shm") },
		"gate of another":     func(t *testing.T, _, file string) { plantFor(t, second(file)) },
		"link of another's": func(t *testing.T, dir, file string) {
			link(t, filepath.Join(dir, "prey"), file)
			must(t, lchown(t, file))
		},
		"pipe for the database": func(t *testing.T, _, file string) { must(t, syscall.Mkfifo(file, 0o666)) },
		"socket for the database": func(t *testing.T, _, file string) {
			l, err := net.Listen("unix", file)
			must(t, err)
			t.Cleanup(func() { _ = l.Close() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.Chmod(dir, 0o777|fs.ModeSticky))
			prey := filepath.Join(dir, "prey")
			must(t, os.WriteFile(prey, []byte("not Ebb's"), 0o644))
			file := filepath.Join(dir, "runs.db")
			plant(t, dir, file)
			s, err := sqlstore.Open(t.Context(), file)
			if err == nil {
				shut(t, s)
				t.Fatal("it was opened")
			}
			if !errors.Is(err, sqlstore.ErrForeign) && !errors.Is(err, filelock.ErrForeign) || !strings.Contains(err.Error(), filepath.Base(file)) {
				t.Errorf("got %v", err)
			}
			if info, err := os.Stat(prey); err != nil || info.Mode().Perm() != 0o644 {
				t.Errorf("what the link leads to is %v, %v", info, err)
			}
			if text, err := os.ReadFile(prey); err != nil || string(text) != "not Ebb's" {
				t.Errorf("what the link leads to has %q, %v", text, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "nothing")); err == nil {
				t.Error("a file was made where the link leads")
			}
		})
	}
}

func link(t *testing.T, to, name string) { t.Helper(); must(t, os.Symlink(to, name)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plantFor makes a file that is another user's, for all to read and write.
func plantFor(t *testing.T, path string) {
	t.Helper()
	must(t, os.WriteFile(path, nil, 0o666))
	must(t, os.Chmod(path, 0o666))
	must(t, lchown(t, path))
}

func lchown(t *testing.T, path string) error {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to make a file of another user")
	}
	return os.Lchown(path, 65534, 65534)
}

// TestReplaced replaces the files of a database in use. The next commit returns an error and writes nothing, the store
// writes nothing more, and closing it does not touch the new files.
//
// Attack (Files): The database, its `-wal`, `-shm` or folder is replaced, moved or deleted.
// Result: The next commit fails, and Ebb writes nothing more, not even on close.
// Also: `TestReplacedUnderReaders`, `cmd/ebb: TestScripts/replaced`.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, dir, file string){
		"renamed over": func(t *testing.T, dir, file string) {
			must(t, os.Rename(filepath.Join(dir, "copy.db"), file))
		},
		"deleted":    func(t *testing.T, _, file string) { must(t, os.Remove(file)) },
		"moved":      func(t *testing.T, _, file string) { must(t, os.Rename(file, file+".old")) },
		"log gone":   func(t *testing.T, _, file string) { must(t, os.Remove(file+"-wal")) },
		"index gone": func(t *testing.T, _, file string) { must(t, os.Remove(file+"-shm")) },
		"all restored": func(t *testing.T, dir, file string) {
			for _, end := range []string{"-wal", "-shm"} {
				must(t, os.Remove(file+end))
				must(t, os.WriteFile(file+end, []byte("another database's"), 0o600))
			}
			must(t, os.Rename(filepath.Join(dir, "copy.db"), file))
		},
		"folder replaced": func(t *testing.T, dir, file string) {
			must(t, os.Rename(dir, dir+".old"))
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.Rename(filepath.Join(dir+".old", "copy.db"), file))
		},
	} {
		for _, settled := range []bool{false, true} {
			t.Run(fmt.Sprint(name, settled), func(t *testing.T) {
				t.Parallel()
				replaced(t, name, replace, settled)
			})
		}
	}
}

func replaced(t *testing.T, name string, replace func(t *testing.T, dir, file string), settled bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	file := filepath.Join(dir, "runs.db")
	s := open(t, file)
	claim := owned(t, s, "a")
	must(t, s.Commit(t.Context(), claim, checkpoint(0)))
	must(t, sqlstore.Backup(t.Context(), file, filepath.Join(dir, "copy.db")))
	must(t, s.Commit(t.Context(), claim, checkpoint(1)))
	is, err := os.Stat(file)
	must(t, err)
	if settled { // so that the store has no reason to look at each file, until it is replaced
		soon(t, "time since the folder was changed", func() bool {
			info, err := os.Stat(dir)
			must(t, err)
			return time.Since(info.ModTime()) > 200*time.Millisecond
		})
		must(t, s.CheckWrite(t.Context()))
		must(t, s.CheckWrite(t.Context()))
	}
	replace(t, dir, file)
	became, err := os.Stat(file)
	same := err == nil && os.SameFile(is, became)
	for range 2 {
		err := s.Commit(t.Context(), claim, checkpoint(2))
		if !errors.Is(err, sqlstore.ErrReplaced) || !errors.Is(err, storage.ErrBroken) || !strings.Contains(err.Error(), file) {
			t.Errorf("a commit to a file without its name: %v", err)
		}
	}
	if name == "renamed over" || name == "all restored" {
		for _, opts := range [][]sqlstore.Option{nil, {sqlstore.ReadOnly()}} {
			if _, err := sqlstore.Open(t.Context(), file, opts...); !errors.Is(err, sqlstore.ErrReplaced) {
				t.Errorf("another file is opened beside the log of the one in use: %v", err)
			}
		}
	}
	if err := s.CheckWrite(t.Context()); !errors.Is(err, sqlstore.ErrReplaced) {
		t.Errorf("the store says that it can write: %v", err)
	}
	closesUnheard(t, s, dir, same)
	for now, want := range map[string]int64{"renamed over": 1, "moved": 2} { // the copy; all that was acknowledged
		if now != name {
			continue
		}
		n := open(t, map[string]string{"renamed over": file, "moved": file + ".old"}[name])
		if got := whole(t, n, "a"); got != want {
			t.Errorf("the run stands at %d, want %d", got, want)
		}
		shut(t, n)
	}
}

// closesUnheard closes a store whose files were replaced, and fails the test if that changes the new files.
func closesUnheard(t *testing.T, s *sqlstore.Store, dir string, same bool) {
	t.Helper()
	before := folder(t, dir)
	if err := s.Close(); err != nil && !errors.Is(err, sqlstore.ErrReplaced) {
		t.Error(err)
	}
	after := folder(t, dir)
	for name, text := range before {
		if strings.Contains(name, "-owner-") || strings.HasSuffix(name, ".old") || name == "runs.db" && same { // SQLite saves in it what is in a log without a name
			continue
		}
		if text != "another database's" && (strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm")) { // the store's own
			continue
		}
		if after[name] != text {
			t.Errorf("closing changed %s", name)
		}
	}
}

// TestReplacedUnderReaders: a new connection of a store does not read another file that
// has the name by now.
func TestReplacedUnderReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	s := open(t, file)
	must(t, s.Create(t.Context(), storage.Run{ID: "a"}))
	other := filepath.Join(dir, "other.db")
	shut(t, open(t, other))
	must(t, os.Rename(other, file))
	if _, err := s.Run(t.Context(), "a"); !errors.Is(err, sqlstore.ErrReplaced) {
		t.Errorf("the run is looked for in another file: %v", err)
	}
	if err := s.Close(); err != nil && !errors.Is(err, sqlstore.ErrReplaced) {
		t.Error(err)
	}
}
