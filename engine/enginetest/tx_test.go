package enginetest_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A hotel is a world in the database of the runs.
type hotel struct {
	file string
	db   *sql.DB
}

func newHotel(tb testing.TB) *hotel {
	tb.Helper()
	h := &hotel{file: filepath.Join(tb.TempDir(), "hotel.db")}
	var err error
	if h.db, err = sql.Open("sqlite", h.file); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := h.db.Close(); err != nil {
			tb.Error(err)
		}
	})
	s, err := h.store()
	if err == nil {
		err = s.Close()
	}
	if err == nil {
		_, err = h.db.ExecContext(context.Background(), `CREATE TABLE bookings (what TEXT)`)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func (h *hotel) store() (storage.Store, error) {
	return sqlstore.Open(context.Background(), "sqlite:"+h.file)
}

func (h *hotel) state() any {
	counts := map[string]int{}
	for _, what := range []string{"room", "table"} {
		var n int
		if err := h.db.QueryRowContext(context.Background(), `SELECT count(*) FROM bookings WHERE what = ?`, what).Scan(
			&n); err != nil {
			return err
		}
		counts[what] = n
	}
	return counts
}

// book inserts a booking with exec.
func book(what string, exec func(ctx context.Context, text, what string) error) *atom.Atom {
	return atom.Pair("book-"+what,
		func(ctx context.Context, _ none) (none, error) {
			return none{}, exec(ctx, `INSERT INTO bookings VALUES (?)`, what)
		},
		func(ctx context.Context, _ none, _ atom.Outcome[none]) error {
			return exec(ctx, `DELETE FROM bookings WHERE what = ?`, what)
		})
}

// within writes in the run's own transaction. beside does not.
func within(ctx context.Context, text, what string) error {
	_, err := atom.Tx(ctx, func(tx *sql.Tx) (none, error) {
		_, err := tx.ExecContext(ctx, text, what)
		return none{}, err
	})
	return err
}

func (h *hotel) beside(ctx context.Context, text, what string) error {
	_, err := h.db.ExecContext(ctx, text, what)
	return err
}

// TestWorldInDatabase: a world may be in the database of the run. Writes with atom.Tx happen once, at any point of death. FailAt
// finds that other writes do not.
func TestWorldInDatabase(t *testing.T) {
	t.Parallel()
	r := &dirs{dir: func() string { return crashdisk.Careless(t) }, clean: t.Cleanup}
	enginetest.FailAt(r, enginetest.World[*hotel]{
		New: newHotel, State: (*hotel).state, Store: (*hotel).store,
		Flow: func(h *hotel) flow.Node { return flow.Linear("stay", book("room", within), book("table", h.beside)) },
	})
	if len(r.failures) != 1 || !strings.HasPrefix(r.failures[0], "FailAt/crash_after_effect_of_book-table: ") {
		t.Errorf("said %q", r.failures)
	}
}

// dirs is a reporter that has folders, too.
type dirs struct {
	reporter

	dir   func() string
	clean func(func())
}

func (d *dirs) TempDir() string  { return d.dir() }
func (d *dirs) Cleanup(f func()) { d.clean(f) }
