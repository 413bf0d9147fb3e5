package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestMain lets the test's own program be the one that crawls, so that it can be
// killed: with CRAWLER_ARCHIVE set it crawls that folder once.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CRAWLER_ARCHIVE"); dir != "" {
		os.Exit(program(dir, os.Getenv("CRAWLER_DATABASE"), os.Getenv("CRAWLER_CHANGES")))
	}
	os.Exit(m.Run())
}

// The ends of the program.
const (
	complete = 0
	undone   = 3
)

// program crawls, and notes each change of the archive in a file. It kills itself
// at the second change: the change is made then, but the store has no record of it.
func program(dir, database, changes string) int {
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, "sqlite:"+database)
	if err != nil {
		panic(err)
	}
	archive := openArchive(dir)
	n := 0
	archive.did = func(what string) {
		if err := note(changes, what); err != nil {
			panic(err)
		}
		if n++; n == 2 {
			self, err := os.FindProcess(os.Getpid())
			if err != nil || self.Kill() != nil {
				panic("it cannot be killed")
			}
			select {} // it takes effect at any moment
		}
	}
	_, err = crawl(ctx, archive, store, engine.WithParallelism(1))
	if _, ok := errors.AsType[*engine.RevertedError](err); ok {
		return undone
	}
	if err != nil {
		panic(err)
	}
	return complete
}

func note(file, what string) (err error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = fmt.Fprintln(f, what)
	return err
}

// TestKilled kills the program at every second change of the archive, on the way
// forward and on the way back, and starts it again until it has come to an end.
// The end is the same as if it had never been killed. Only the change in which the
// program was killed is made twice, because the store has no record of it.
//
// Guarantee (G2): A crawl killed during a change makes that change twice, every other once.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"complete": complete, "undone": undone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, remove := newArchive(photographs)
			t.Cleanup(remove)
			if want == undone {
				archive.Write("2025/SHA256SUMS", line("a dog with a ball", "dog.jpg"))
			}
			expected := archive.Contents()
			if want == complete {
				expected = undisturbed(t)
			}

			kills, changes := killAndGoOn(t, archive, want)
			if got := archive.Contents(); !maps.Equal(got, expected) {
				t.Errorf("the archive is %v; want %v", got, expected)
			}
			made := map[string]int{}
			for _, what := range changes {
				if made[what]++; made[what] > 2 {
					t.Errorf("%s was made %d times", what, made[what])
				}
			}
			if kills < 3 || len(changes) != len(made)+kills {
				t.Errorf("%d kills, and these changes: %v", kills, made)
			}
		})
	}
}

// killAndGoOn starts the program again and again until it ends as wanted. It
// returns how often it was killed, and the changes of the archive it noted.
func killAndGoOn(t *testing.T, archive *Archive, want int) (kills int, changes []string) {
	t.Helper()
	aside := t.TempDir()
	file := filepath.Join(aside, "changes")
	for {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "CRAWLER_ARCHIVE="+archive.root.Name(),
			"CRAWLER_DATABASE="+filepath.Join(aside, "ebb.db"), "CRAWLER_CHANGES="+file)
		out, err := cmd.CombinedOutput()
		switch status := cmd.ProcessState.ExitCode(); {
		case status == want:
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return kills, strings.Split(strings.TrimSpace(string(text)), "\n")
		case status == complete || status == undone || strings.Contains(string(out), "panic"):
			t.Fatalf("it ended with %d: %v\n%s", status, err, out)
		case kills == 100:
			t.Fatal("it does not come to an end")
		}
		kills++
	}
}

// undisturbed returns the archive after a run that is never killed.
func undisturbed(t *testing.T) map[string]string {
	t.Helper()
	archive, remove := newArchive(photographs)
	defer remove()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crawl(t.Context(), archive, store); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Contents()
}
