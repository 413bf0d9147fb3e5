package sqlstore

import (
	"strconv"
	"strings"
	"time"
)

// A dialect is what differs between the databases in how statements are spelt
// and what they need around them. Statements are written once, as SQLite spells
// them, with ? or ?1 where their arguments go; what is about more than statements
// is in the files that are named after one of the two databases.
type dialect struct {
	driver      string                    // under which database/sql knows it
	spell       func(query string) string // what is given to the database
	write       string                    // begins a transaction that writes
	view        string                    // begins one that only reads, all of it of one moment
	clock       string                    // asks for the database's time, in microseconds; "" where all share the machine's
	locks       bool                      // writers are not alone: rows that are read to be written are locked first
	posts       bool                      // statements can be sent together, see session.post
	share       string                    // keeps limits as they are until the transaction ends; "" where writers are alone
	alter       string                    // waits for the transactions that keep limits so, and keeps others from it
	numbers     string                    // asks for so many numbers of new runs; "" where those are given in passing
	lastVisible string                    // asks how far the messages have come that can be seen
	owners      string                    // lists the owners
	skip        string                    // ends a query that locks what it selects, but for what others have locked
	plain       string                    // claims jobs, see claimPlain
	markDead    string                    // says that an owner is dead, unless it has shown itself since
	patience    time.Duration             // how long one answer is waited for; 0 where the database is at hand
}

// fileDialect is SQLite's: one writer at a time, which has the whole file.
var fileDialect = &dialect{
	driver:      "sqlite",
	spell:       func(query string) string { return query },
	write:       "BEGIN IMMEDIATE", // or it would have to wait for the write lock later on
	view:        "BEGIN",
	lastVisible: `SELECT coalesce(max(arrival), 0) FROM messages`,
	plain:       claimPlainOf(`IN (` + firstPlain + `)`),
	owners:      `SELECT id, host, pid, started, seen FROM owners`,
	markDead:    `DELETE FROM owners WHERE id = ?`,
}

// serverDialect is PostgreSQL's: many writers, which exclude each other by locks on
// rows.
var serverDialect = &dialect{
	driver: "pgx",
	spell:  spellPostgres,
	write:  "BEGIN READ WRITE ISOLATION LEVEL READ COMMITTED", // each statement sees what was committed before it, and locks what it changes
	view:   "BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ",
	clock:  `SELECT ` + serverClock,
	locks:  true,
	posts:  true,
	// Locks on the table take rights on it; every role that can connect may hold an advisory lock.
	share:       `LOCK TABLE limits IN ROW EXCLUSIVE MODE`,
	alter:       `LOCK TABLE limits IN SHARE ROW EXCLUSIVE MODE`,
	numbers:     `SELECT nextval(pg_get_serial_sequence('origins', 'n')) FROM generate_series(1, CAST(? AS BIGINT))`,
	patience:    45 * time.Second, // longer than the server is given
	lastVisible: `SELECT CAST(pg_current_snapshot() AS TEXT)`,
	owners: `SELECT id, host, pid, started, seen, machine, lease, clock.now AS clock, lease > clock.now AS leased
FROM owners, (SELECT ` + serverClock + ` AS now) clock`,
	skip:     ` FOR UPDATE SKIP LOCKED`,
	plain:    claimPlainOf(`= ANY (ARRAY(` + firstPlain + ` FOR UPDATE SKIP LOCKED))`), // as an array, or all rows may be read to find those
	markDead: `UPDATE owners SET lease = 0 WHERE id = ? AND lease = ?`,
}

// atTime returns a statement in which a mark, the last of its arguments, is the time by
// which leases are kept, and its arguments.
func (d *dialect) atTime(query, mark string, args ...any) (at string, all []any) {
	if d.clock == "" {
		return query, append(args, time.Now().UnixMicro())
	}
	return strings.ReplaceAll(query, mark, "("+d.clock+")"), args
}

// serverClock is the server's time in microseconds, within a statement.
const serverClock = `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`

// postgresSpellings are the words that PostgreSQL has for something else.
var postgresSpellings = strings.NewReplacer(
	"CROSS JOIN", "JOIN", // which in SQLite fixes the order
	"IN (SELECT value FROM json_each(?))", "= ANY (ARRAY(SELECT json_array_elements_text(CAST(? AS JSON))))", // as an array, or all rows may be read to find those
	"json_each(?)", "json_array_elements_text(CAST(? AS JSON))",
	"json_each(?5)", "json_each_text(CAST(?5 AS JSON))",
	"json_each(?3)", "json_array_elements_text(CAST(?3 AS JSON))",
	"json_each(?4)", "json_array_elements_text(CAST(?4 AS JSON))",
)

// spellPostgres returns a statement as PostgreSQL wants it.
func spellPostgres(query string) string {
	query = postgresSpellings.Replace(query)
	var b strings.Builder
	n := 0
	for {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		if after == "" || after[0] < '1' || after[0] > '9' { // a bare ?, and not a numbered one
			n++
			b.WriteString(strconv.Itoa(n))
		}
		query = after
	}
}
