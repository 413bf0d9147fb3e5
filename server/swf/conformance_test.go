//go:build unix

package swf_test

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestConformanceSWF runs the client with AWS's SDK against servers on each kind of database.
func TestConformanceSWF(t *testing.T) {
	t.Parallel()
	client := builtClient(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testConformance(t, client, "swf/checks", filepath.Join(t.TempDir(), "ebb.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		testConformance(t, client, "swf/checks on PostgreSQL", dsn)
	})
}

// builtClient builds the client, which is a module of its own.
func builtClient(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "client")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".")
	build.Dir = filepath.Join(conformance.Folder(t), "swf")
	build.Env = append(build.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// parts are the groups of checks that run side by side. The last one has what no other has.
var parts = []string{"^decision", "^activity", "^child", "^(timer|marker|signal|cancel|continue|lambda|execution|start)", "^(domain|type)", "^(history|visibility|wire)"}

// A verdict is a line of the client.
var verdict = regexp.MustCompile(`^(PASS|FAIL|SKIP) (\S+?):? (.*)$`)

func testConformance(t *testing.T, client, name, dsn string) {
	t.Helper()
	server := childtest.Start(t, servedVariable+"="+dsn)
	address := server.Line()
	passed, all := 0, 0
	var mu sync.Mutex
	var running sync.WaitGroup
	for _, part := range parts {
		running.Go(func() {
			checks := exec.CommandContext(t.Context(), client, "-endpoint", address, "-run", part, "-lambda", echo)
			out, err := checks.Output() // it fails if a check does
			mu.Lock()
			defer mu.Unlock()
			lines, ended := bufio.NewScanner(bytes.NewReader(out)), false
			for lines.Scan() {
				if v := verdict.FindStringSubmatch(lines.Text()); v != nil {
					if all++; v[1] == "PASS" {
						passed++
					} else {
						t.Errorf("conformance %s: %s", name, lines.Text())
					}
				}
				ended = ended || strings.HasPrefix(lines.Text(), "TOTAL ")
			}
			if !ended {
				t.Errorf("%s: the client did not finish: %v: %s", part, err, out)
			}
		})
	}
	running.Wait()
	t.Logf("conformance %s: %d/%d", name, passed, all)
	if all == 0 {
		t.Error("the client has made no checks")
	}
}
