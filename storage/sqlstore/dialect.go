package sqlstore

import (
	"time"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/sqlconn"
)

// A dialect describes how a session works with its kind of database, beyond the texts of statements.
type dialect struct {
	sqlconn.Dialect
	db    int    // index of the database's text in a statement
	write string // statement that begins a transaction that writes
	view  string // statement that begins a transaction that only reads, on one snapshot
	locks bool   // other transactions write at the same time: lock rows before you read them to write them
	clock bool   // the database's clock measures leases, not this machine's
	// watch knows the time of the server; nil if no server has told it.
	watch *liveness.Watch
	// damage is what the store has left out.
	damage *damage
}

// Now returns the time by which the times in the database are judged. It asks no server.
func (d *dialect) Now() time.Time {
	if d.watch == nil {
		return time.Now()
	}
	return d.watch.Clock()
}

// fileDialect is SQLite's: one writer at a time, which locks the whole file. Each store has a copy.
var fileDialect = dialect{
	write: "BEGIN IMMEDIATE", // a deferred transaction could fail when it upgrades to a write lock
	view:  "BEGIN",
}

// serverDialect is PostgreSQL's: many writers at a time, which lock rows. Each store has a copy.
var serverDialect = dialect{
	// Each statement sees what was committed before it, and locks what it changes
	write: "BEGIN READ WRITE ISOLATION LEVEL READ COMMITTED",
	view:  "BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ",
	db:    onPostgres,
	locks: true,
	clock: true,
	Dialect: sqlconn.Dialect{
		Posts:    true,
		Patience: 45 * time.Second, // longer than the statement_timeout that the store sets on the server
		Forms:    forms,
	},
}

const (
	// serverClock is the server's time in microseconds, as an SQL expression.
	serverClock = `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`
	selectClock = `SELECT ` + serverClock
	serverNow   = `(` + selectClock + `)`
)

// untilNow returns the arguments of a statement whose last argument on SQLite is the current time. On a server the
// statement asks the server's clock.
func (d *dialect) untilNow(args ...any) []any {
	if d.clock {
		return args
	}
	return append(args, time.Now().UnixMicro())
}
