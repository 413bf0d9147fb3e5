package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestDeploy: the files for deployment agree with this command.
func TestDeploy(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var said bytes.Buffer
	database := filepath.Join(t.TempDir(), "ebb.db") // the folder of its own is made by the unit
	args := []string{"serve", "--check", "--config", "../../deploy/ebb.yaml", "--dir", ".", "--dsn", database}
	if status := execute(context.Background(), args, strings.NewReader(""), &said, &said); status != exit.Success {
		t.Errorf("ebb.yaml: %d %s", status, &said)
	}

	unit := read("ebb.service")
	for _, want := range []string{"Type=notify\n", "KillSignal=SIGTERM\n", "ExecStart=/usr/bin/ebb serve --config /etc/ebb/ebb.yaml\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %s", want)
		}
	}
	stop, err := time.ParseDuration(regexp.MustCompile(`TimeoutStopSec=(\d+)\n`).FindStringSubmatch(unit)[1] + "s")
	if least := conductor.DefaultDrain + engine.DefaultGrace + server.Goodbye; err != nil || stop <= least {
		t.Errorf("what is to stop is killed after %v; it may take %v (%v)", stop, least, err)
	}
}

// TestUnit: systemd understands all of the unit, and thinks it kept in well.
func TestUnit(t *testing.T) {
	t.Parallel()
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("needs systemd-analyze: it is not on this machine")
	}
	text, err := os.ReadFile("../../deploy/ebb.service")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable() // any program that is there
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "ebb.service")
	if err := os.WriteFile(unit, bytes.ReplaceAll(text, []byte("/usr/bin/ebb "), []byte(self+" ")), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), systemd, "verify", unit).CombinedOutput()
	if strings.Contains(string(said), "ebb.service") { // what else it says is of this machine's own units
		t.Errorf("%s (%v)", said, err)
	}
	const exposure = "30" // tenths of 10, which is the worst
	if said, err := exec.CommandContext(t.Context(), systemd, "security", "--offline=yes", "--threshold="+exposure, unit).CombinedOutput(); err != nil {
		t.Errorf("%s (%v)", said, err)
	}
}

// TestRightsOnServer grants a user exactly the rights on the page about PostgreSQL. The user can do everything that is
// done with runs.
func TestRightsOnServer(t *testing.T) {
	t.Parallel()
	owner := ownedDatabase(t)
	worker, reader := newRole(t, owner, "w"), newRole(t, owner, "r")
	said := func(dsn, word string) {
		t.Helper()
		var out bytes.Buffer
		if execute(t.Context(), []string{"list", "--dsn", dsn}, strings.NewReader(""), &out, &out); !strings.Contains(out.String(), word) {
			t.Errorf("it says %s, want %s", &out, word)
		}
	}
	said(owner, "run ebb migrate up")
	migrated(t, owner)
	said(worker.dsn, "GRANT USAGE ON SCHEMA")

	page, err := os.ReadFile("../../docs/how-to/deploy-on-postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, grants, _ := strings.Cut(string(page), "```sql\n")
	grants, _, _ = strings.Cut(grants, "```")
	postgrestest.Exec(t, owner, strings.ReplaceAll(grants, "TO worker", "TO "+worker.name))
	postgrestest.Exec(t, owner, "GRANT USAGE ON SCHEMA ebb TO "+reader.name+"; GRANT SELECT ON ALL TABLES IN SCHEMA ebb TO "+reader.name)
	file := filepath.Join(t.TempDir(), "wait.asl.json")
	if err := os.WriteFile(file, []byte(`{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 0, "End": true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dsn  string
		args []string
	}{
		{worker.dsn, []string{"run", file, "--id", "one", "--label", "a=b"}},
		{worker.dsn, []string{"run", file, "--id", "two", "--detach"}},
		{worker.dsn, []string{"suspend", "two"}},
		{worker.dsn, []string{"cancel", "two"}},
		{worker.dsn, []string{"post", file, "--id", "three"}},
		{worker.dsn, []string{"jobs", "cancel", "three"}},
		{worker.dsn, []string{"limit", "--flow", "wait", "--rate", "100/1m"}},
		{worker.dsn, []string{"schedule", "add", "nightly", "30 2 * * *", "wait"}},
		{worker.dsn, []string{"schedule", "remove", "nightly"}},
		{reader.dsn, []string{"list", "--label", "a=b"}},
		{reader.dsn, []string{"show", "one"}},
		{reader.dsn, []string{"history", "one"}},
		{reader.dsn, []string{"why", "one"}},
		{reader.dsn, []string{"jobs", "--all"}},
		{reader.dsn, []string{"doctor"}},
		{worker.dsn, []string{"prune", "--keep", "0s"}},
	} {
		var out bytes.Buffer
		if status := execute(t.Context(), append(c.args, "--dsn", c.dsn), strings.NewReader(""), &out, &out); status != exit.Success {
			t.Errorf("ebb %s: %d %s", strings.Join(c.args, " "), status, &out)
		}
	}
}

// ownedDatabase returns a database of the test's own, for tables in the usual schema.
func ownedDatabase(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(postgrestest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("schema")
	u.RawQuery = q.Encode()
	return u.String()
}

// A role is a user of a server without any rights, with a DSN to log in.
type role struct{ name, dsn string }

func newRole(t *testing.T, dsn, name string) role {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name = strings.TrimPrefix(u.Path, "/") + "_" + name
	conn := postgrestest.Connect(t, dsn)
	if _, err := conn.Exec(t.Context(), "CREATE ROLE "+name); err != nil {
		t.Skipf("needs a user who may make others: name one in EBB_TEST_POSTGRES (%v)", err)
	}
	t.Cleanup(func() { postgrestest.Exec(t, dsn, "DROP OWNED BY "+name+"; DROP ROLE "+name) })
	q := u.Query()
	q.Set("role", name)
	u.RawQuery = q.Encode()
	return role{name, u.String()}
}

// migrated returns a server's database that has Ebb's tables.
func migrated(t *testing.T, dsn string) string {
	t.Helper()
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}
