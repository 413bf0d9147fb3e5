package sqlstore_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// lacksRights is PostgreSQL's code for a statement that the role may not run.
const lacksRights = "42501"

// refusedTo reports whether the server refuses a statement to the role of a connection.
func refusedTo(t *testing.T, conn *pgx.Conn, statement string) bool {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), statement)
	if rolledBack := tx.Rollback(t.Context()); rolledBack != nil {
		t.Fatal(rolledBack)
	}
	failed, is := errors.AsType[*pgconn.PgError](err)
	if err != nil && !is {
		t.Fatalf("%s: %v", statement, err)
	}
	return is && failed.Code == lacksRights
}

// TestServerReaderRole: a role that may only read the tables can neither change, lock nor migrate them, and Ebb does not
// open the database as that role for writing. It does see the tokens.
//
// Attack (PostgreSQL: roles, settings and clock): A role with `SELECT` changes, locks or migrates tables, or opens the
// database with Ebb.
// Result: PostgreSQL refuses. Open: the role sees inputs, results and task tokens. A token ends its task, with a
// `tasks` key or on the machine of an `ebb serve` without keys.
func TestServerReaderRole(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	as, name := newUser(t, dsn, "reader")
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s := openServer(t, dsn)
	defer shut(t, s)
	must(t, s.Create(t.Context(), storage.Run{ID: "a", Flow: "trip"}))
	schema := postgrestest.Schema(t, dsn)
	quoted := pgx.Identifier{schema}.Sanitize()
	postgrestest.Exec(t, dsn, "GRANT USAGE ON SCHEMA "+quoted+" TO "+name+"; GRANT SELECT ON ALL TABLES IN SCHEMA "+quoted+" TO "+name)
	conn := postgrestest.Connect(t, as)
	rows, err := conn.Query(t.Context(), `SELECT table_name, min(column_name) FROM information_schema.columns
WHERE table_schema = $1 AND is_identity = 'NO' GROUP BY table_name`, schema)
	must(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Column string }])
	must(t, err)
	if len(tables) < 15 {
		t.Fatalf("found %d tables", len(tables))
	}
	for _, table := range tables {
		on, column := pgx.Identifier{schema, table.Name}.Sanitize(), pgx.Identifier{table.Column}.Sanitize()
		for _, statement := range []string{
			"INSERT INTO " + on + " DEFAULT VALUES", "UPDATE " + on + " SET " + column + " = " + column,
			"DELETE FROM " + on, "TRUNCATE " + on, "ALTER TABLE " + on + " ADD x INT", "DROP TABLE " + on,
			"CREATE INDEX ON " + on + " (" + column + ")", "SELECT 1 FROM " + on + " FOR UPDATE", "SELECT 1 FROM " + on + " FOR KEY SHARE",
			"LOCK TABLE " + on + " IN ROW SHARE MODE", "LOCK TABLE " + on + " IN SHARE MODE",
			"LOCK TABLE " + on + " IN ACCESS EXCLUSIVE MODE",
		} {
			if !refusedTo(t, conn, statement) {
				t.Errorf("a role that may only read may: %s", statement)
			}
		}
		if refusedTo(t, conn, "SELECT 1 FROM "+on) {
			t.Errorf("the role may not read %s", on)
		}
	}
	if !refusedTo(t, conn, "CREATE TABLE "+quoted+".x (n INT)") {
		t.Error("the role may create tables in the schema")
	}
	if other, err := sqlstore.Open(t.Context(), as); err == nil {
		shut(t, other)
		t.Error("the database was opened for writing as a role that may only read")
	}
	postgrestest.Exec(t, dsn, "DELETE FROM "+quoted+".migrations")
	if _, err := sqlstore.Migrate(t.Context(), as); err == nil {
		t.Error("the database was migrated as a role that may only read")
	}
}

// TestServerSenderRole: a role that may only insert messages can block the inbox of a run. A sender to this run gets an
// error. Other runs get their messages.
//
// Attack (PostgreSQL: roles, settings and clock): A role with `INSERT` on `messages`.
// Result: Open, as granted: its rows count as messages and commands, and block the inbox of a run. A sender to that run
// gets an error. Grant it only to roles that may cancel runs.
func TestServerSenderRole(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	as, name := newUser(t, dsn, "sender")
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s := openServer(t, dsn)
	defer shut(t, s)
	for _, id := range []string{"a", "b"} {
		must(t, s.Create(t.Context(), storage.Run{ID: id, Flow: "trip"}))
	}
	attacked, err := s.Run(t.Context(), "a")
	must(t, err)
	quoted := pgx.Identifier{postgrestest.Schema(t, dsn)}.Sanitize()
	postgrestest.Exec(t, dsn, "GRANT USAGE ON SCHEMA "+quoted+" TO "+name+"; GRANT INSERT ON "+quoted+".messages TO "+name)
	conn := postgrestest.Connect(t, as)
	for _, n := range []int64{1, 2, 3, 1 << 62} {
		if _, err := conn.Exec(t.Context(), "INSERT INTO "+quoted+`.messages (run, n, kind, path, incarnation, name, key, sent)
VALUES ($1, $2, 'signal', '', 0, 'x', '', 0)`, attacked.Number, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{
		"SELECT 1 FROM " + quoted + ".messages", "DELETE FROM " + quoted + ".messages", "UPDATE " + quoted + ".runs SET wakeups = 9",
		"INSERT INTO " + quoted + ".origins DEFAULT VALUES", "SELECT 1 FROM " + quoted + ".records",
		"INSERT INTO " + quoted + ".records DEFAULT VALUES", "DELETE FROM " + quoted + ".records",
		"LOCK TABLE " + quoted + ".record_revisions IN ROW EXCLUSIVE MODE", "LOCK TABLE " + quoted + ".record_revisions IN ACCESS SHARE MODE",
	} {
		if !refusedTo(t, conn, statement) {
			t.Errorf("a role that may only insert messages may: %s", statement)
		}
	}
	if err := s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Name: "late"}); err == nil {
		t.Error("a message to the attacked run counts as sent")
	}
	for i := range 3 {
		must(t, s.Send(t.Context(), storage.Message{Run: "b", Kind: "signal", Name: "x"}))
		_, messages, err := backend.AllMessages(t.Context(), s, "b")
		if err != nil || len(messages) != i+1 {
			t.Errorf("the other run has %d messages (%v)", len(messages), err)
		}
	}
}
