package sqlstore

import (
	"context"
	"database/sql"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Store keeps runs in a SQLite or PostgreSQL database. Any number of goroutines may use it. Other stores, in this
// process or others, may use the same database.
type Store struct {
	backend.Store

	own *store
}

var (
	_ backend.Transactor   = (*Store)(nil)
	_ backend.WriteChecker = (*Store)(nil)
	_ backend.WriteBars    = (*Store)(nil)
)

// Open opens the database that the DSN names: "sqlite:PATH", a bare path, or "postgres://…". If a file does not
// exist, Open creates it. If an older Ebb created the file, Open migrates it. Open refuses foreign files with
// [ErrForeign] and files of a newer Ebb with [ErrNewer], and does not change them. It returns [ErrNoTables] or
// [ErrOlder] for a database on a server that [Migrate] has not migrated.
func Open(ctx context.Context, dsn string, opts ...Option) (*Store, error) {
	s, err := openStore(ctx, dsn, opts...)
	if err != nil {
		return nil, err
	}
	return &Store{Store: s, own: s}, nil
}

// AfterRestore makes a database safe to use after it was restored from a copy. It raises the fences and epochs above
// all values that were handed out. So a process that claimed a run or job after the copy was made cannot write. It
// also frees the runs and jobs that have an owner in the copy, and returns how many of them have not ended. A caller
// that read a named record after the copy was made cannot write it either: the store never gives that revision again.
// No other process may use the database meanwhile.
func (s *Store) AfterRestore(ctx context.Context) (runs, jobs int64, err error) {
	return s.own.AfterRestore(ctx)
}

// RepairKeys releases the keys that no open run holds. It gives open runs back the keys that they have lost, unless
// another run has the key now. It returns how many keys it released and gave back. Only a program that is not Ebb can
// cause such a state. No other process may use the database.
func (s *Store) RepairKeys(ctx context.Context) (released, restored int64, err error) {
	return s.own.RepairKeys(ctx)
}

// Status returns the state of the database. It reads indexes and the rows of what waits, at most [MaxFound] each: with
// a million runs in a file, that takes some tenths of a second.
func (s *Store) Status(ctx context.Context) (*Status, error) { return s.own.Status(ctx) }

// Counts returns the counts of this store since it was opened.
func (s *Store) Counts() Counts { return s.own.Counts() }

// Damaged returns what the store has left out so far, because it could not be read: each row, and why.
func (s *Store) Damaged() []string { return s.own.Damaged() }

// Largest returns up to limit runs that have written the most bytes, largest first, see [storage.Growth]. It reads
// the row of every run.
func (s *Store) Largest(ctx context.Context, limit int) (runs []storage.Run, err error) {
	return s.own.Largest(ctx, limit)
}

// RecordKinds returns the kinds of named records that the database has, ordered by kind. It reads the name of every
// record.
func (s *Store) RecordKinds(ctx context.Context) (kinds []RecordKind, err error) {
	return s.own.RecordKinds(ctx)
}

// Vacuum returns the space of purged runs to the file system, in small transactions between other writes. It
// returns the number of bytes. Without Vacuum, later runs reuse the space. On a server it does nothing, because
// autovacuum does this.
func (s *Store) Vacuum(ctx context.Context) (int64, error) { return s.own.Vacuum(ctx) }

// PostJobTx adds jobs in the caller's own transaction, on a connection to the database of this store. The jobs
// exist if and when that transaction commits. The transaction of [atom.Tx] also works. On SQLite, open
// the caller's connection with a busy timeout; otherwise it does not wait for other writers. If ids are taken,
// PostJobTx adds the other jobs and returns ErrExists, and the transaction can continue. If it returns ErrJobDiffers,
// the transaction has the jobs before that one.
func (s *Store) PostJobTx(ctx context.Context, tx storage.UserTx, list ...storage.Job) error {
	return s.own.PostJobTx(ctx, tx, list...)
}

// Transact implements [backend.Transactor.Transact].
func (s *Store) Transact(
	ctx context.Context, claim backend.Claim, key string, fn func(*sql.Tx) (atom.Value, error),
) (atom.Value, error) {
	return s.own.Transact(ctx, claim, key, fn)
}

// CheckWrite implements [backend.WriteChecker.CheckWrite].
func (s *Store) CheckWrite(ctx context.Context) error { return s.own.CheckWrite(ctx) }

// Barred implements [backend.WriteBars.Barred].
func (s *Store) Barred(ctx context.Context) (why string, err error) { return s.own.Barred(ctx) }
