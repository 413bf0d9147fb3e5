//go:build unix

package sqlstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// folder returns the names in a folder with their contents, but for some.
func folder(t *testing.T, dir string, but ...string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if slices.Contains(but, e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil && !e.IsDir() && !errors.Is(err, fs.ErrPermission) {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

// TestRefusedFiles opens what must not be written: the error says which file and
// what to do, and nothing is changed.
//
// Guarantee (G8): Foreign files, newer schemas and unwritable places are refused with file and reason, unchanged.
// Also: `TestUnwritablePlaces`.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		make  func(t *testing.T, file string)
		want  error
		words string
	}{
		{"text", func(t *testing.T, file string) {
			write(t, file, strings.Repeat("dear diary, ", 100))
		}, sqlstore.ErrForeign, "is not a database: name another file"},
		{"short text", func(t *testing.T, file string) {
			write(t, file, "dear diary")
		}, sqlstore.ErrForeign, "is not a database: name another file"},
		{"another program's database", func(t *testing.T, file string) {
			execute(t, file, "PRAGMA application_id = 252006674", "CREATE TABLE t (x)")
		}, sqlstore.ErrForeign, "belongs to another program (application id 0xf055112)"},
		{"a database without an application", func(t *testing.T, file string) {
			execute(t, file, "CREATE TABLE t (x)")
		}, sqlstore.ErrForeign, "belongs to another program (application id 0x0)"},
		{"a newer schema", func(t *testing.T, file string) {
			shut(t, open(t, file))
			execute(t, file, "PRAGMA user_version = 99")
		}, sqlstore.ErrNewer, "): use that or newer"},
		{"a checkout that was never released", func(t *testing.T, file string) {
			execute(t, file, "PRAGMA application_id = 0x45626231", "PRAGMA user_version = 19", "CREATE TABLE runs (n INTEGER)")
		}, sqlstore.ErrOlder, "has schema 19 of a checkout from before version 0.1, which cannot be migrated: finish its runs"},
		{"a folder", func(t *testing.T, file string) {
			if err := os.Mkdir(file, 0o777); err != nil {
				t.Fatal(err)
			}
		}, sqlstore.ErrForeign, "is not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "it.db")
			c.make(t, file)
			before := folder(t, dir)
			for _, opts := range [][]sqlstore.Option{nil, {sqlstore.ReadOnly()}} {
				s, err := sqlstore.Open(t.Context(), file, opts...)
				if err == nil {
					shut(t, s)
				}
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), file) {
					t.Errorf("got error %v", err)
				}
			}
			if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
				t.Errorf("the folder was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// execute runs statements on a file without Ebb.
func execute(t *testing.T, file string, statements ...string) {
	t.Helper()
	db := raw(t, file)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUnwritablePlaces(t *testing.T) {
	t.Parallel()
	below := filepath.Join(t.TempDir(), "file")
	write(t, below, "no folder")
	for file, says := range map[string]string{
		filepath.Join(below, "runs.db"):                      "",
		filepath.Join(t.TempDir(), "none", "runs.db"):        "its folder does not exist: create it",
		filepath.Join(t.TempDir(), strings.Repeat("x", 300)): "",
		"/" + strings.Repeat("long/", 2000):                  "",
		"/dev/null/runs.db":                                  "",
		"/proc/runs.db":                                      "", // where not even root may make a file
	} {
		s, err := sqlstore.Open(t.Context(), file)
		if err == nil {
			shut(t, s)
		}
		if err == nil || !strings.Contains(err.Error(), strings.TrimRight(file, "/")) || !strings.Contains(err.Error(), says) {
			t.Errorf("Open(%q): %v", file, err)
		}
	}
}

func TestDSN(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"", " ", "sqlite:", "sqlite:\t", ":memory:", "sqlite::memory:", "postgres://localhost/ebb", "mysql://x", "file:x.db"} {
		s, err := sqlstore.Open(t.Context(), dsn)
		if err == nil {
			shut(t, s)
			t.Errorf("Open(%q) succeeded", dsn)
		}
	}
	for _, name := range []string{"a b.db", "50%.db", "what?.db", "#1.db", "ü&=+.db", "x_pragma=y", "[a]*.db"} {
		file := filepath.Join(t.TempDir(), name)
		s := open(t, file)
		if err := s.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		shut(t, s)
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
}

// TestSymbolicLink opens one file by two names: both find the same owners.
func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link.db": "real/runs.db", "folder": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, filepath.Join(dir, "folder", "runs.db"))
	defer shut(t, s)
	if err := s.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Begin(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	other := open(t, filepath.Join(dir, "link.db"))
	defer shut(t, other)
	_, _, err := other.Begin(t.Context(), "a")
	if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
		t.Errorf("Begin through the link: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	if _, err := sqlstore.Open(t.Context(), file, sqlstore.ReadOnly()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("Open of no file for reading: %v", err)
	}
	if left := folder(t, dir); len(left) != 0 {
		t.Errorf("opening for reading made %v", left)
	}
	w := open(t, file)
	if err := w.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	goOn(t, w, "a")
	look := func() {
		t.Helper()
		r := open(t, file, sqlstore.ReadOnly())
		defer shut(t, r)
		if n := whole(t, r, "a"); n != 1 {
			t.Errorf("the run stands at %d", n)
		}
		if _, err := r.Runs(t.Context(), storage.RunQuery{}); err != nil {
			t.Error(err)
		}
		if owners, err := r.Owners(t.Context()); err != nil || r.Owner() != (storage.Owner{}) || len(owners) > 1 {
			t.Errorf("owner %+v, owners %+v, %v", r.Owner(), owners, err)
		}
		if _, _, err := r.Begin(t.Context(), "a"); !errors.Is(err, sqlstore.ErrReadOnly) {
			t.Errorf("Begin: %v", err)
		}
		if err := r.Send(t.Context(), storage.Message{Run: "a"}); !errors.Is(err, sqlstore.ErrReadOnly) {
			t.Errorf("Send: %v", err)
		}
		if _, err := r.ClaimJobs(t.Context(), backend.JobClaim{}); !errors.Is(err, sqlstore.ErrReadOnly) {
			t.Errorf("ClaimJobs: %v", err)
		}
	}
	look() // while another store writes
	shut(t, w)
	before := folder(t, dir)
	look()
	if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
		t.Errorf("looking changed the folder:\n%s", diff)
	}
}

// TestReadOnlyAfterKill reads the records of a killed process, which are still in the WAL.
func TestReadOnlyAfterKill(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	p := start(t, "commit", file, "sqlstore.commit.after")
	run := p.Line()
	for p.Line() != "" {
		continue
	}
	if !p.Killed() {
		t.Fatal("the child ended by itself")
	}
	r := open(t, file, sqlstore.ReadOnly())
	defer shut(t, r)
	if n := whole(t, r, run); n != 3 {
		t.Errorf("the run stands at %d", n)
	}
}

// TestDamagedRecord damages a stored record. The error names the run, and no other run is affected.
//
// Guarantee (G8): A damaged record is an error for its run only.
// Also: `TestBatch`.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	for _, id := range []string{"a", "b"} {
		if err := s.Create(t.Context(), storage.Run{ID: id}); err != nil {
			t.Fatal(err)
		}
		goOn(t, s, id)
	}
	shut(t, s)
	execute(t, file,
		"UPDATE runs SET recent = x'017f' WHERE n = (SELECT n FROM origins WHERE id = 'a')")
	s = open(t, file)
	defer shut(t, s)
	_, atoms := s.Atoms(t.Context(), "a", storage.AtomQuery{})
	_, history := s.History(t.Context(), "a", 0, 0)
	_, _, begin := s.Begin(t.Context(), "a")
	for what, err := range map[string]error{"Atoms": atoms, "History": history, "Begin": begin} {
		if !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if r, err := s.Run(t.Context(), "a"); err != nil || r.Owner != "" {
		t.Errorf("a Begin that failed left %+v, %v", r, err)
	}
	goOn(t, s, "b")
}
