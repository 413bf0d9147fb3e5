package doctor

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestDoctorOnServer breaks what only a server has.
func TestDoctorOnServer(t *testing.T) {
	t.Parallel()
	p := &patient{dsn: postgrestest.DSN(t)}
	p.finds(t, "schema", Wrong, "there are no tables yet", "ebb migrate up")
	if _, err := sqlstore.Migrate(t.Context(), p.dsn); err != nil {
		t.Fatal(err)
	}
	p.finds(t, "", "", "", "")
	postgrestest.Exec(t, p.dsn, `INSERT INTO migrations (version, name, made_by) VALUES (1000, 'to come', 'v9.9.9')`)
	if _, err := p.diagnosed(t); exit.Of(err) != exit.Unreachable || !strings.Contains(err.Error(), "use ebb v9.9.9 or newer") {
		t.Errorf("of a newer one it says %v", err)
	}
	postgrestest.Exec(t, p.dsn, `DELETE FROM migrations WHERE version = 1000`)
}

// TestDoctorOnDeafServer: the server's notifications do not arrive.
func TestDoctorOnDeafServer(t *testing.T) {
	t.Parallel()
	p := &patient{dsn: migrated(t, postgrestest.DSN(t))}
	p.dsn = postgrestest.Deaf(t, p.dsn)
	p.finds(t, "notifications", Warning, "up to a second late", "a pool that keeps a connection for each session")
}

// TestDoctorOnClockSetBack: a process was last seen at a time that has not come yet.
//
// Attack (PostgreSQL: roles, settings and clock): PostgreSQL's clock is set back, forward, or back and forth.
// Result: [Guarantees](guarantees.md#g6-two-owners-never-both-write); `ebb doctor` reports it.
func TestDoctorOnClockSetBack(t *testing.T) {
	t.Parallel()
	p := &patient{dsn: migrated(t, postgrestest.DSN(t))}
	p.open(t)
	postgrestest.Exec(t, p.dsn, `INSERT INTO owners (id, host, pid, started, seen, machine, lease)
SELECT 'dead', 'elsewhere', 4711, 0, now.n, '', now.n + 10000000 FROM (SELECT CAST(extract(epoch FROM clock_timestamp() + interval '1 hour') * 1000000 AS BIGINT) AS n) now`)
	p.finds(t, "clock set back", Warning, "process 4711 on elsewhere was last seen at ", "why the clock was set back")
}

// TestDoctorOnServersClock: the server's clock goes otherwise than this machine's.
func TestDoctorOnServersClock(t *testing.T) {
	t.Parallel()
	for says, ahead := range map[string]time.Duration{
		"this machine's clock is 1h0m0s ahead of the database's": -time.Hour,
		"this machine's clock is 1h0m0s behind the database's":   time.Hour,
	} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			p := &patient{dsn: migrated(t, postgrestest.Database(t))}
			postgrestest.SetClock(t, p.dsn, ahead)
			p.finds(t, "clock", Warning, says, "NTP")
		})
	}
}

// migrated returns a server's database that has Ebb's tables.
func migrated(t *testing.T, dsn string) string {
	t.Helper()
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// TestDoctorOnCheckout looks at a database of a checkout that was never released.
func TestDoctorOnCheckout(t *testing.T) {
	t.Parallel()
	p := &patient{dsn: "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")}
	p.execute(t, "PRAGMA application_id = 0x45626231; PRAGMA user_version = 2; CREATE TABLE runs (n INTEGER)")
	_, err := p.diagnosed(t)
	if !errors.Is(err, sqlstore.ErrOlder) || !strings.Contains(err.Error(), "has schema 2 of a checkout") {
		t.Errorf("it says %v", err)
	}
}
