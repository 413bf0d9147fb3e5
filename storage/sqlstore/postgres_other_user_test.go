package sqlstore_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// newUser creates a role without any right on Ebb's tables. It returns a DSN whose
// connections act as that role, and the role's name.
func newUser(t *testing.T, dsn, suffix string) (as, name string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name = postgrestest.Schema(t, dsn) + "_" + suffix
	if _, err := postgrestest.Connect(t, dsn).Exec(t.Context(), "CREATE ROLE "+pgx.Identifier{name}.Sanitize()); err != nil {
		t.Skipf("needs a user who may create roles: name one in EBB_TEST_POSTGRES (%v)", err)
	}
	t.Cleanup(func() {
		quoted := pgx.Identifier{name}.Sanitize()
		postgrestest.Exec(t, dsn, "DROP OWNED BY "+quoted+" CASCADE; DROP ROLE "+quoted)
	})
	q := u.Query()
	q.Set("role", name)
	u.RawQuery = q.Encode()
	return u.String(), name
}

// TestServerOtherUserHoldsNothingUp lets a user without any right on Ebb's tables hold all advisory locks by which Ebb
// could have waited, and a flood of notifications: runs are created, limits are set, and tables are migrated
// nevertheless.
//
// Attack (PostgreSQL: roles, settings and clock): A role that can only connect holds advisory locks under Ebb's names.
// Result: Ebb locks its own tables, which needs rights on them.
//
// Attack (PostgreSQL: roles, settings and clock): A role that can only connect floods Ebb's notification channel.
// Result: Bounded: a notification only triggers a check, and Ebb merges checks.
func TestServerOtherUserHoldsNothingUp(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	other, _ := newUser(t, dsn, "other")
	conn := postgrestest.Connect(t, other)
	schema := postgrestest.Schema(t, dsn)
	for _, lock := range []string{"limits of " + schema, "migrate ebb:" + schema} {
		if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(hashtext($1))`, lock); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s := openServer(t, dsn)
	defer shut(t, s)
	if _, err := conn.Exec(t.Context(), `SELECT count(pg_notify($1, repeat('x', 7000) || i)) FROM generate_series(1, 2000) AS i`, "ebb:"+schema); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), storage.Run{ID: "a", Flow: "trip"}); err != nil {
		t.Error(err)
	}
	if err := s.SetLimit(t.Context(), storage.Limit{Flow: "trip", Runs: 1}); err != nil {
		t.Error(err)
	}
	for _, lock := range []string{"ROW SHARE", "ROW EXCLUSIVE", "SHARE ROW EXCLUSIVE"} {
		for _, table := range []string{"limits", "migrations", "runs"} {
			if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE "+pgx.Identifier{schema, table}.Sanitize()+" IN "+lock+" MODE"); err == nil {
				t.Errorf("a user without rights locks %s in mode %s", table, lock)
			}
			if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestServerForeignSchema refuses schemas in which others could place functions that
// Ebb's statements would call, and names what helps.
//
// Attack (PostgreSQL: roles, settings and clock): Another role creates Ebb's schema first, or puts functions into a
// shared schema.
// Result: Ebb refuses a schema where PUBLIC may create objects, and migrates only a schema of its own role or of an
// administrator.
func TestServerForeignSchema(t *testing.T) {
	t.Parallel()
	t.Run("everybody may create", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		schema := pgx.Identifier{postgrestest.Schema(t, dsn)}.Sanitize()
		postgrestest.Exec(t, dsn, "GRANT CREATE ON SCHEMA "+schema+" TO PUBLIC")
		_, err := sqlstore.Open(t.Context(), dsn)
		if !errors.Is(err, sqlstore.ErrForeign) || !strings.Contains(err.Error(), "REVOKE CREATE ON SCHEMA "+schema+" FROM PUBLIC") {
			t.Errorf("Open: %v", err)
		}
		postgrestest.Exec(t, dsn, "REVOKE CREATE ON SCHEMA "+schema+" FROM PUBLIC")
		shut(t, openServer(t, dsn))
	})
	t.Run("another role owns it", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		migrator, name := newUser(t, dsn, "migrator")
		_, other := newUser(t, dsn, "other")
		schema := pgx.Identifier{postgrestest.Schema(t, dsn)}.Sanitize()
		database := pgx.Identifier{postgrestest.Connect(t, dsn).Config().Database}.Sanitize()
		postgrestest.Exec(t, dsn, "DROP SCHEMA IF EXISTS "+schema+" CASCADE; CREATE SCHEMA "+schema+" AUTHORIZATION "+other+
			"; GRANT ALL ON SCHEMA "+schema+" TO "+name+"; GRANT CREATE ON DATABASE "+database+" TO "+name)
		_, err := sqlstore.Migrate(t.Context(), migrator)
		if !errors.Is(err, sqlstore.ErrForeign) || !strings.Contains(err.Error(), other) {
			t.Errorf("Migrate: %v", err)
		}
		postgrestest.Exec(t, dsn, "ALTER SCHEMA "+schema+" OWNER TO "+name)
		if _, err := sqlstore.Migrate(t.Context(), migrator); err != nil {
			t.Error(err)
		}
	})
}
