//go:build unix

package sqlstore_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestMain lets tests start this binary as another process on a database.
func TestMain(m *testing.M) {
	if role := os.Getenv("SQLSTORE_CHILD"); role != "" {
		if err := child(role, os.Getenv("SQLSTORE_FILE"), os.Getenv("SQLSTORE_KILL_AT")); err != nil {
			say("error: " + err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	sqlstore.LowerFew()
	goleak.VerifyTestMain(childtest.Waiting{M: m})
}

// child is a test's other process. With a place, it kills or stops itself there, at the third time if the place is
// passed often.
func child(role, file, killAt string) error {
	ctx := context.Background()
	signal := syscall.SIGKILL
	if os.Getenv("SQLSTORE_SIGNAL") == "STOP" {
		signal = syscall.SIGSTOP
	}
	if umask, err := strconv.ParseUint(os.Getenv("SQLSTORE_UMASK"), 8, 9); err == nil {
		syscall.Umask(int(umask))
	}
	if killAt != "" {
		nth := int64(1)
		if strings.HasPrefix(killAt, "sqlstore.commit") {
			nth = 3
		}
		failpoint.ArmNth(killAt, nth, func() {
			if err := syscall.Kill(os.Getpid(), signal); err != nil {
				panic(err)
			}
			if signal == syscall.SIGKILL {
				select {} // until it is delivered
			}
		})
	}
	lease := sqlstore.DefaultLease
	if role == "told" { // it will be stopped for longer
		lease = 3 * time.Second
	}
	opts := []sqlstore.Option{sqlstore.Lease(lease)}
	if os.Getenv("SQLSTORE_SHARED") != "" {
		opts = append(opts, sqlstore.FolderMode())
	}
	s, err := sqlstore.Open(ctx, file, opts...)
	if err != nil {
		return err
	}
	run := fmt.Sprint("run-", os.Getpid())
	if err := s.Create(ctx, storage.Run{ID: run}); err != nil {
		return err
	}
	claim, _, err := s.Begin(ctx, run)
	if err != nil {
		return err
	}
	say(run)
	switch role {
	case "hold": // the run, until it is told to end
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
	case "saturate":
		return saturate(ctx, s)
	case "modest":
		return stepNowAndThen(ctx, s)
	case "told": // to commit by each line
		return commitWhenTold(ctx, s, claim)
	case "busy": // until killed, saying so after the first commit
		return commit(ctx, s, claim, math.MaxInt64, 1)
	case "endless": // until killed, saying so after each commit
		return commit(ctx, s, claim, math.MaxInt64, math.MaxInt64)
	case "transact": // with a table of its own
		for i := range 2000 {
			if err := add(ctx, s, claim, fmt.Sprint(i)); err != nil {
				return err
			}
			say(fmt.Sprint(i))
		}
	case "commit": // and say so after each one
		if err := commit(ctx, s, claim, 2000, 2000); err != nil {
			return err
		}
	}
	return s.Close()
}

// commitWhenTold makes a commit for each line of input, and reports the result. The next line repeats a refused commit.
func commitWhenTold(ctx context.Context, s *sqlstore.Store, claim backend.Claim) error {
	n := int64(0)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		err := s.Commit(ctx, claim, checkpoint(n))
		switch {
		case err == nil:
			n++
			say("committed")
		case errors.Is(err, storage.ErrFenced):
			say("fenced")
		default:
			return err
		}
	}
	return s.Close()
}

// commit makes n commits, and says so after each of the first.
func commit(ctx context.Context, s *sqlstore.Store, claim backend.Claim, n, told int64) error {
	for i := range n {
		if err := s.Commit(ctx, claim, checkpoint(i)); err != nil {
			return err
		}
		if i < told {
			say(fmt.Sprint(i + 1))
		}
	}
	return nil
}

// add puts a line into the user's table, under a key of its own.
func add(ctx context.Context, s *sqlstore.Store, claim backend.Claim, line string) error {
	_, err := s.Transact(ctx, claim, line, func(tx *sql.Tx) (atom.Value, error) {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS ledger (line TEXT)"); err != nil {
			return nil, fmt.Errorf("%w: %w", errUsers, err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO ledger VALUES (?)", line); err != nil {
			return nil, fmt.Errorf("%w: %w", errUsers, err)
		}
		return atom.Null, nil
	})
	return err
}

// errUsers marks the errors of the user's own SQL, which come back as they are.
var errUsers = errors.New("the user's table")

func say(line string) { _, _ = os.Stdout.WriteString(line + "\n") }

// checkpoint returns the nth checkpoint of a run that says in several tables how
// far it has come.
func checkpoint(n int64) *backend.Checkpoint {
	return &backend.Checkpoint{
		Head:    backend.Head{Seq: n, Entries: n + 1},
		Atoms:   []storage.Atom{{Path: "x", Live: true, Attempt: int(n + 1)}},
		History: []storage.Entry{{Seq: n + 1, Path: "x"}},
		Push:    []storage.Undo{{N: n + 1, Path: "x"}},
	}
}

// start starts a child on a database.
func start(tb testing.TB, role, file, killAt string, env ...string) *childtest.Process {
	tb.Helper()
	return childtest.Start(tb, append(env, "SQLSTORE_CHILD="+role, "SQLSTORE_FILE="+file, "SQLSTORE_KILL_AT="+killAt)...)
}
