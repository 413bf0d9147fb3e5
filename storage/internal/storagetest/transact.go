package storagetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A ledger is a user's table in the store's database.
type ledger struct {
	backend.Store
	tx backend.Transactor
}

func openLedger(t *testing.T, s backend.Store) *ledger {
	t.Helper()
	tx, ok := s.(backend.Transactor)
	if !ok {
		t.Skip("this store has no database for users' tables")
	}
	return &ledger{s, tx}
}

// add inserts a row into the user's table, and creates the table.
func add(tx *sql.Tx, line string) (atom.Value, error) {
	for _, query := range []string{
		"CREATE TABLE IF NOT EXISTS ledger (line TEXT)", "INSERT INTO ledger VALUES ('" + line + "')",
	} {
		if _, err := tx.Exec(query); err != nil { //nolint:noctx // its deadline is that of the transaction
			return nil, err
		}
	}
	return value(line), nil
}

// lines returns the user's table.
func lines(tx *sql.Tx) (out []string, err error) {
	rows, err := tx.Query("SELECT line FROM ledger ORDER BY line") //nolint:noctx // as above
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, rows.Err()
}

// expect compares the user's table.
func (l *ledger) expect(t *testing.T, claim backend.Claim, want string) {
	t.Helper()
	var got []string
	look := errors.New("only looking")
	_, err := l.tx.Transact(t.Context(), claim, "look", func(tx *sql.Tx) (_ atom.Value, err error) {
		if got, err = lines(tx); err != nil {
			return nil, err
		}
		return nil, look
	})
	if !errors.Is(err, look) {
		t.Fatalf("looking at the ledger: %v", err)
	}
	if joined := strings.Join(got, " "); joined != want {
		t.Fatalf("the ledger has %q, want %q", joined, want)
	}
}

// Guarantee (G2): A user's SQL in the run's database commits with its record, once per key, or not at all.
// Also: `TestStore/TransactRefused`, `TestStore/RaceTransact`, `TestKilledInTransact`.
func testTransact(t *testing.T, m Maker) {
	s := m.open(t)
	l := openLedger(t, s)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, s, "b")
	before := load(t, s, "a")
	calls := 0
	do := func(claim backend.Claim, key, line string) (atom.Value, error) {
		return l.tx.Transact(t.Context(), claim, key, func(tx *sql.Tx) (atom.Value, error) {
			calls++
			return add(tx, line)
		})
	}
	for range 2 { // the second time from its record
		got := ask[atom.Value](t, "Transact")(do(p.claim, "k", "one"))
		same(t, "result", value("one"), got)
	}
	same(t, "another run's key", value("two"), ask[atom.Value](t, "Transact")(do(q.claim, "k", "two")))
	same(t, "another key", value("three"), ask[atom.Value](t, "Transact")(do(p.claim, "l", "three")))
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	l.expect(t, p.claim, "one three two")
	same(t, "the run", before, load(t, s, "a"))
	none := func(*sql.Tx) (atom.Value, error) { return nil, nil }
	for range 2 {
		same(t, "no result", atom.Value(nil),
			ask[atom.Value](t, "Transact")(l.tx.Transact(t.Context(), p.claim, "none", none)))
	}
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess, Release: true}})
	want(t, "Transact after the end", errOf(do(p.claim, "k", "one")), storage.ErrFenced)
	if n := ask[int](t, "Purge")(s.Purge(t.Context(), "a")); n != 1 {
		t.Fatalf("purged %d", n)
	}
	create(t, s, run("a"))
	p = begin(t, s, "a")
	same(t, "after a purge", value("four"), ask[atom.Value](t, "Transact")(do(p.claim, "k", "four")))
	l.expect(t, p.claim, "four one three two")
}

// testTransactRefused rolls back all writes of a transaction that fails.
func testTransactRefused(t *testing.T, m Maker) {
	s := m.open(t)
	l := openLedger(t, s)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	ask[atom.Value](t, "Transact")(l.tx.Transact(t.Context(), p.claim, "first", func(tx *sql.Tx) (atom.Value, error) {
		return add(tx, "first")
	}))
	stale := p.claim
	stale.Fence--
	forged := p.claim
	forged.ID = "forged"
	nobody := p.claim
	nobody.Run = "zz"
	boom := errors.New("boom")
	short, cancel := context.WithCancel(t.Context())
	defer cancel()
	exec := func(queries ...string) func(*sql.Tx) (atom.Value, error) {
		return func(tx *sql.Tx) (atom.Value, error) {
			for _, query := range queries {
				_, _ = tx.ExecContext(context.WithoutCancel(t.Context()), query) // with any error
			}
			return value("done"), nil
		}
	}
	for _, c := range []struct {
		name  string
		ctx   context.Context //nolint:containedctx // of the call
		claim backend.Claim
		key   string
		fn    func(*sql.Tx) (atom.Value, error)
		err   error
	}{
		{"a stale claim", t.Context(), stale, "k", nil, storage.ErrFenced},
		{"a forged claim", t.Context(), forged, "k", nil, storage.ErrFenced},
		{"no run", t.Context(), nobody, "k", nil, storage.ErrNotFound},
		{"no key", t.Context(), p.claim, "", nil, storage.ErrInvalid},
		{"an endless key", t.Context(), p.claim, strings.Repeat("k", backend.MaxKey+1), nil, storage.ErrInvalid},
		{"an error", t.Context(), p.claim, "k", func(*sql.Tx) (atom.Value, error) { return nil, boom }, boom},
		{"too large a result", t.Context(), p.claim, "k", func(*sql.Tx) (atom.Value, error) {
			return make(atom.Value, atom.MaxValue+1), nil
		}, atom.ErrValueTooLarge},
		{
			"the end of its time", short, p.claim, "k", func(*sql.Tx) (atom.Value, error) { cancel(); return value(1), nil },
			context.Canceled,
		},
		{"a context that had ended", cancelled(t), p.claim, "k", nil, context.Canceled},
		{
			"Commit", t.Context(), p.claim, "k", func(tx *sql.Tx) (atom.Value, error) { return value(1), ignored(tx.Commit()) },
			storage.ErrInvalid,
		},
		{"Rollback", t.Context(), p.claim, "k", func(tx *sql.Tx) (atom.Value, error) {
			return value(1),
				ignored(tx.Rollback())
		}, storage.ErrInvalid},
		{"COMMIT", t.Context(), p.claim, "k", exec("COMMIT"), storage.ErrInvalid},
		{
			"COMMIT and more", t.Context(), p.claim, "k", exec("COMMIT", "BEGIN", "INSERT INTO ledger VALUES ('x')"),
			storage.ErrInvalid,
		},
		{
			"COMMIT in disguise", t.Context(), p.claim, "k", exec("/* */ ; end transaction; INSERT INTO ledger VALUES ('x')"),
			storage.ErrInvalid,
		},
		{
			"ROLLBACK and more", t.Context(), p.claim, "k", exec("ROLLBACK", "INSERT INTO ledger VALUES ('x')"),
			storage.ErrInvalid,
		},
		{"a transaction of its own", t.Context(), p.claim, "k", exec("ROLLBACK", "BEGIN", "INSERT INTO ledger VALUES ('x')",
			"COMMIT"), storage.ErrInvalid},
	} {
		_, err := l.tx.Transact(c.ctx, c.claim, c.key, func(tx *sql.Tx) (atom.Value, error) {
			if c.fn == nil {
				t.Errorf("%s: the function was called", c.name)
				return nil, nil
			}
			if _, err := add(tx, "lost"); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			return c.fn(tx)
		})
		want(t, c.name, err, c.err)
		l.expect(t, p.claim, "first")
	}
	want(t, "an error, as it is",
		errOf(l.tx.Transact(t.Context(), p.claim, "k", func(*sql.Tx) (atom.Value, error) { return nil, boom })), boom)
	panicking(t, func() {
		_, _ = l.tx.Transact(t.Context(), p.claim, "k", func(tx *sql.Tx) (atom.Value, error) {
			_, _ = add(tx, "lost")
			panic("fn")
		})
	})
	l.expect(t, p.claim, "first")

	var kept *sql.Tx
	var rows *sql.Rows
	ask[atom.Value](t, "Transact")(l.tx.Transact(t.Context(), p.claim, "keeps",
		func(tx *sql.Tx) (_ atom.Value, err error) {
			kept = tx
			//nolint:sqlclosecheck,rowserrcheck // left open on purpose
			rows, err = tx.QueryContext(t.Context(), "SELECT line FROM ledger")
			return nil, err
		}))
	if _, err := add(kept, "late"); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("a transaction that was kept: %v", err)
	}
	if rows.Next() {
		t.Error("rows that were kept can be read")
	}
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess}})
}

// ignored returns nil, like a caller that ignores the error.
func ignored(error) error { return nil }

// panicking fails the test unless f panics.
func panicking(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("the panic was lost")
		}
	}()
	f()
}

// testRaceTransact lets many goroutines use the same keys while others commit. Each key's work is done once, and all
// callers get the same answer.
func testRaceTransact(t *testing.T, m Maker) {
	s := m.open(t)
	l := openLedger(t, s)
	other := m.join(t, s)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, other, "b")
	keys := max(3, rounds()/6)
	race(4, func(i int) {
		for n := range keys {
			if i == 0 {
				must(t, "Commit", q.commit(t.Context(), q.next(backend.Checkpoint{Atoms: []storage.Atom{{Path: "x"}}})))
				continue
			}
			key := fmt.Sprintf("k%02d", n)
			got, err := l.tx.Transact(t.Context(), p.claim, key, func(tx *sql.Tx) (atom.Value, error) { return add(tx, key) })
			if err != nil || string(got) != string(value(key)) {
				t.Errorf("%s: %s, %v", key, got, err)
			}
		}
	})
	all := make([]string, keys)
	for n := range all {
		all[n] = fmt.Sprintf("k%02d", n)
	}
	l.expect(t, p.claim, strings.Join(all, " "))
	must(t, "Release", s.Release(t.Context(), p.claim, 0, time.Time{}))
}
