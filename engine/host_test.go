package engine_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func TestLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info, DisableTime: true, Name: "app"})
	work := func(ctx context.Context) error { atom.Logger(ctx).Warn("working"); return errors.New("no") }
	undo := func(ctx context.Context) error { atom.Logger(ctx).Warn("undoing", "n", 1); return nil }
	_, err := run(t, flow.Linear("f", reporting("a", work, undo)), engine.WithLogger(log))
	if !errors.As(err, new(*engine.RevertedError)) {
		t.Fatal(err)
	}
	for _, want := range []string{
		"app: working: attempt=1 path=a run=r\n",
		"app: undoing: attempt=1 path=a revert=true run=r n=1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log has no line %q:\n%s", want, &out)
		}
	}
	atom.Logger(t.Context()).Error("outside of a call nothing is logged, and nothing breaks")
}

// A ledger is a user's own table.
type ledger struct {
	t    *testing.T
	file string
}

func newLedger(t *testing.T) ledger {
	return ledger{t, filepath.Join(t.TempDir(), "ebb.db")}
}

func (l ledger) open() *sqlstore.Store {
	l.t.Helper()
	s, err := sqlstore.Open(l.t.Context(), "sqlite:"+l.file)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

func shut(t *testing.T, s backend.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// add inserts a line and returns the number of lines.
func (l ledger) add(ctx context.Context, line string) (int, error) {
	return atom.Tx(ctx, func(tx *sql.Tx) (n int, err error) {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS ledger (line TEXT)"); err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO ledger VALUES (?)", line); err != nil {
			return 0, err
		}
		return n, tx.QueryRowContext(ctx, "SELECT count(*) FROM ledger").Scan(&n)
	})
}

// lines returns the lines of the table.
func (l ledger) lines() []string {
	l.t.Helper()
	db, err := sql.Open("sqlite", l.file)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(l.t.Context(), "SELECT line FROM ledger ORDER BY rowid")
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			l.t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return lines
}

// TestTx checks what is written once: each transaction of a call, again for each incarnation and for the revert, but
// not the writes that an error rolled back.
func TestTx(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	store := l.open()
	defer shut(t, store)
	refused := errors.New("refused")
	work := func(ctx context.Context) error {
		which := fmt.Sprint("@", atom.CurrentCall(ctx).Incarnation)
		if _, err := l.add(ctx, "one"+which); err != nil {
			return err
		}
		if _, err := atom.Tx(ctx, func(tx *sql.Tx) (struct{}, error) {
			_, err := tx.ExecContext(ctx, "DELETE FROM ledger")
			return struct{}{}, errors.Join(err, refused)
		}); !errors.Is(err, refused) {
			t.Errorf("the error of the function came back as %v", err)
		}
		if _, err := l.add(ctx, "two"+which); err != nil {
			return err
		}
		return errors.New("no")
	}
	undo := func(ctx context.Context) error {
		_, err := l.add(ctx, fmt.Sprint("undo@", atom.CurrentCall(ctx).Incarnation))
		return err
	}
	eng, err := engine.New(flow.Linear("f", reporting("a", work, undo)).WithRetry(atom.Times(2, atom.Backoff{})), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); !errors.As(err, new(*engine.RevertedError)) {
		t.Fatal(err)
	}
	want := []string{"one@0", "two@0", "undo@0", "one@1", "two@1", "undo@1"}
	if diff := cmp.Diff(want, l.lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestTxAcrossCrash kills the process between the commit of a transaction and that of the checkpoint. The task executes
// again, the transaction does not.
//
// Guarantee (G2): `atom.Tx` writes once, also if the store closes before the checkpoint, and never for a former owner.
// Also: `TestTxFenced`.
func TestTxAcrossCrash(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	executed := 0
	begin := func(store *sqlstore.Store, afterwards func()) error {
		eng, err := engine.New(atom.Func("a", func(ctx context.Context, _ struct{}) (int, error) {
			executed++
			n, err := l.add(ctx, "line")
			afterwards()
			return n, err
		}, atom.As("n")), store)
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r")
		if err == nil {
			if n, err := engine.Get(res, atom.NewKey[int]("n")); n != 1 || err != nil {
				t.Errorf("the transaction returned %d, %v", n, err)
			}
		}
		return err
	}
	first := l.open()
	if err := begin(first, func() { shut(t, first) }); !errors.As(err, new(*engine.StoreError)) {
		t.Fatalf("the run ended with %v", err)
	}
	second := l.open()
	defer shut(t, second)
	if err := begin(second, func() {}); err != nil {
		t.Fatal(err)
	}
	if lines := l.lines(); executed != 2 || len(lines) != 1 {
		t.Errorf("executed %d times, wrote %q", executed, lines)
	}
}

// A robbed store can lose its claims to another owner.
type robbed struct {
	*sqlstore.Store
	claim backend.Claim
}

func (r *robbed) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	r.claim = claim
	return r.Store.Commit(ctx, claim, cp)
}

// taken returns a body that loses its run between two transactions.
func taken(t *testing.T, l ledger, store *robbed, other backend.Store) func(context.Context) error {
	t.Helper()
	return func(ctx context.Context) error {
		if _, err := l.add(ctx, "mine"); err != nil {
			return err
		}
		if err := store.Release(ctx, store.claim, 0, time.Time{}); err != nil {
			t.Error(err)
		}
		if _, _, err := other.Begin(ctx, "r"); err != nil {
			t.Error(err)
		}
		_, err := l.add(ctx, "not mine any more")
		if !errors.Is(err, storage.ErrFenced) {
			t.Errorf("the transaction ended with %v", err)
		}
		return err
	}
}

// TestTxFenced: a task whose run was taken over writes nothing, and does not fail because of that. The new owner
// decides.
func TestTxFenced(t *testing.T) {
	t.Parallel()
	untilStopped := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for parallel, beside := range map[int]func(context.Context) error{1: nothing, 4: untilStopped} {
		t.Run(fmt.Sprint(parallel, " at once"), func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			store, other := &robbed{Store: l.open()}, l.open()
			defer shut(t, store)
			defer shut(t, other)
			eng, err := engine.New(flow.Unordered("f", reporting("b", beside, nothing), reporting("a", taken(t, l, store, other), nothing)), store, engine.WithParallelism(parallel))
			if err != nil {
				t.Fatal(err)
			}
			_, err = eng.Run(t.Context(), "r")
			if !errors.As(err, new(*engine.StoreError)) || !errors.Is(err, storage.ErrFenced) {
				t.Errorf("the run ended with %v", err)
			}
			if diff := cmp.Diff([]string{"mine"}, l.lines()); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			if a := stored(t, other, "a"); a.State != states.TaskRunning || a.Failure != nil {
				t.Errorf("the task is %v, %v", a.State, a.Failure)
			}
		})
	}
}

func TestTxWithoutDatabase(t *testing.T) {
	t.Parallel()
	_, err := run(t, atom.Func("a", func(ctx context.Context, _ struct{}) (int, error) {
		return atom.Tx(ctx, func(*sql.Tx) (int, error) { panic("called") })
	}))
	if err == nil || !strings.Contains(err.Error(), "sqlstore.Open") {
		t.Errorf("ended with %v", err)
	}
	if _, err := atom.Tx(t.Context(), func(*sql.Tx) (int, error) { panic("called") }); !errors.Is(err, atom.ErrNoTransactions) {
		t.Errorf("outside of a call: %v", err)
	}
}

// A vague store cannot say at first whether a transaction was committed, or its disk fails.
type vague struct {
	*sqlstore.Store
	err   error
	times int
}

func (v *vague) Transact(ctx context.Context, c backend.Claim, key string, fn func(*sql.Tx) (atom.Value, error)) (atom.Value, error) {
	result, err := v.Store.Transact(ctx, c, key, fn)
	if v.times > 0 && err == nil {
		v.times--
		return nil, v.err
	}
	return result, err
}

// TestTxStoreError: the engine repeats a transaction whose end is unknown. A store that fails stops the run, and does
// not fail the task.
func TestTxStoreError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err   error
		times int
		stops bool
	}{
		"unsure once":     {storage.ErrUnsure, 1, false},
		"unsure for good": {storage.ErrUnsure, 100, true},
		"broken":          {errors.New("the disk is gone"), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			store := &vague{l.open(), tc.err, tc.times}
			defer shut(t, store)
			eng, err := engine.New(reporting("a", func(ctx context.Context) error {
				_, err := l.add(ctx, "line")
				return err
			}, nothing), store)
			if err != nil {
				t.Fatal(err)
			}
			_, err = eng.Run(t.Context(), "r")
			if !tc.stops && err != nil || tc.stops && !errors.As(err, new(*engine.StoreError)) {
				t.Errorf("ended with %v", err)
			}
			if lines := l.lines(); len(lines) != 1 {
				t.Errorf("lines %q", lines)
			}
			if a := stored(t, store, "a"); tc.stops && a.State != states.TaskRunning {
				t.Errorf("the task is %v", a.State)
			}
		})
	}
}
