package sqlstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
)

var (
	selectOwners = statement{
		onSQLite:   `SELECT id, host, pid, started, seen FROM owners ORDER BY started, id`,
		onPostgres: serverOwners + ` ORDER BY started, id`,
	}
	selectOwner = statement{
		onSQLite:   `SELECT id, host, pid, started, seen FROM owners WHERE id = $1`,
		onPostgres: serverOwners + ` WHERE id = $1`,
	}
)

// serverOwners selects the owners of a PostgreSQL database, with the server's time.
const serverOwners = `SELECT id, host, pid, started, seen, machine, lease, clock.now AS clock,
	lease > clock.now AS leased
FROM owners, (SELECT ` + serverClock + ` AS now) clock`

// ownerRow is the stored form of an owner.
type ownerRow struct {
	unread

	ID      string
	Host    string
	PID     int
	Started moment
	Seen    moment
	Machine string // on servers: text that identifies the machine, see machine
	Lease   int64  // on servers: when the lease expires
	Leased  bool   // on servers: the lease has not expired
	Clock   int64  // on servers: the server's time
}

func (r *ownerRow) owner() storage.Owner {
	return storage.Owner{
		ID: r.ID, Host: r.Host, PID: r.PID, Started: r.Started.time(), Seen: r.Seen.time(), Ended: r.Lease < 0,
	}
}

// Owner implements [backend.Owners.Owner]. If the store was opened with [ReadOnly], it returns the zero Owner.
func (s *store) Owner() storage.Owner { return s.owner }

// Database implements [backend.Owners.Database]. For a file it returns the path without symbolic links. For a server it
// returns the names of the database and the schema, because the address of a server has many forms.
func (s *store) Database() string {
	if s.server != nil {
		return "postgres " + s.server.Config.Database + " " + s.server.Schema
	}
	path, err := filepath.Abs(s.file)
	if err != nil {
		path = s.file
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return "sqlite " + path
}

// Owners implements [backend.Owners.Owners]. It returns the processes that have the database open for writing, and dead
// processes that no process has evicted yet.
func (s *store) Owners(ctx context.Context) ([]storage.Owner, error) {
	var rows []ownerRow
	err := s.view(ctx, func(r *session) (err error) {
		rows, err = each[ownerRow](ctx, r, selectOwners[r.dialect.db])
		return err
	})
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // else it is not known which processes are of this machine
	out := make([]storage.Owner, 0, len(rows))
	for i := range rows {
		o := rows[i].owner()
		if s.server != nil {
			o.Alive = rows[i].alive()
		} else if o.Alive, err = s.judge(lockFile(s.file, o.ID)); unjudged(err) {
			o.Alive = o.Host != host || running(o.PID) // to show only: who writes asks the lock
		} else if err != nil {
			return nil, err
		}
		if s.server == nil && o.Alive { // by its lock, and it renews no lease
			o.Seen = time.UnixMicro(time.Now().UnixMicro()).UTC()
		}
		o.Stopped = o.Alive && o.PID != os.Getpid() && o.Host == host && filelock.Process(o.PID).Stopped()
		out = append(out, o)
	}
	return out, nil
}

// OwnedRuns implements [backend.Owners.OwnedRuns].
func (s *store) OwnedRuns(ctx context.Context) (counts map[string]int, err error) {
	err = s.glance(ctx, func(r *session) (err error) {
		counts, err = ownedRuns(ctx, r)
		return err
	})
	return counts, err
}

// ownedRuns counts the runs that have an owner.
func ownedRuns(ctx context.Context, r *session) (map[string]int, error) {
	var owned []struct {
		Owner string
		Runs  int
	}
	if err := r.All(ctx, &owned, countOwned); err != nil {
		return nil, err
	}
	counts := make(map[string]int, len(owned))
	for _, o := range owned {
		counts[o.Owner] = o.Runs
	}
	return counts, nil
}

// Evictions implements [backend.Owners.Evictions].
func (s *store) Evictions() int64 { return s.evictions.Load() }

// alive reports whether an owner on a server is alive: its lease has not expired and, if it is on this machine, its
// process exists.
func (r *ownerRow) alive() bool {
	return r.Leased && !r.gone()
}

// gone reports whether an owner on a server was a process of this machine that has ended.
func (r *ownerRow) gone() bool {
	return r.Machine != "" && r.Machine == machine() && !running(r.PID)
}

// owned returns the error that names the owner of a run.
func (s *store) owned(ctx context.Context, w *session, row *runRow) error {
	var owner ownerRow
	err := w.Get(ctx, &owner, selectOwner[w.dialect.db], row.Owner)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	o := owner.owner()
	o.ID, o.Alive = row.Owner, true
	return &storage.OwnedError{Run: row.ID, Owner: o}
}
