package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	// DefaultLease is how long a process on another machine is taken to be alive
	// after it was last heard of, unless [Lease] or the DSN says otherwise.
	DefaultLease = 10 * time.Second

	// lookEvery is how often waiting processes poll, with or without a notification: a
	// notification is only a hint and may be lost.
	lookEvery = time.Second
	// tellEvery bounds how often others are notified, as each time holds up the
	// commits of the whole server for a moment.
	tellEvery = 5 * time.Millisecond
	// reconnectEvery is up to how long the lease renewer waits before it connects again.
	reconnectEvery = 2 * time.Second
	// forgetAfter is when an owner that died is forgotten.
	forgetAfter = 10 * time.Minute
)

// Lease sets how long a process is taken to be alive after it was last heard of,
// on a server; a third of it is how often it shows itself. Shorter is taken over
// sooner, and lost sooner by a process that was held up. For files it does
// nothing: there the operating system says which owners live.
func Lease(d time.Duration) Option { return func(s *Store) { s.lease = d } }

// A leaseRenewer keeps a store's owner alive on a server, by a lease on the server's
// clock, and passes on what other processes notify of. It has a connection of its
// own, so that no statement holds it up.
type leaseRenewer struct {
	server   *server
	owner    *storage.Owner
	lease    time.Duration
	notifier *wakeup.Notifier

	mu      sync.Mutex
	untold  wakeup.Change      // what others were not told of
	shown   time.Time          // when the lease was last prolonged
	lost    bool               // its connection
	back    time.Time          // when it had one again
	disturb context.CancelFunc // ends what the lease renewer waits for
	stop    chan struct{}
	done    sync.WaitGroup

	watch     liveness.Watch
	log       hclog.Logger
	arrivals  arrivalTracker
	evictions *atomic.Int64 // how often the owner was taken for dead

	evicting sync.Mutex
	looked   time.Time // when the dead were looked for
}

const (
	keepOwner = `INSERT INTO owners (id, host, pid, started, seen, machine, lease)
VALUES (?, ?, ?, ?, ` + serverClock + `, ?, ` + serverClock + ` + ?)
ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, lease = excluded.lease`
	// renewOwner returns no row when the owner was taken for dead.
	renewOwner = `UPDATE owners SET seen = clock.now, lease = clock.now + ? FROM (SELECT ` + serverClock + ` AS now) clock
WHERE id = ? AND lease > 0 RETURNING seen`
	resignOwner = `UPDATE owners SET lease = 0 WHERE id = ?`
	forgetOwner = `DELETE FROM owners WHERE lease < ` + serverClock + ` - ? AND NOT EXISTS (SELECT 1 FROM runs WHERE owner = owners.id AND owner <> '')`
	// selectExpired lists the owners that may have died, and the dead owners that left runs or jobs. OFFSET makes the
	// server look for the first row of each owner, and not for all rows that have an owner.
	selectExpired = ` WHERE owners.lease > 0 OR EXISTS (SELECT 1 FROM runs WHERE owner = owners.id AND owner <> '' OFFSET 0)
  OR EXISTS (SELECT 1 FROM jobs WHERE owner = owners.id AND state = ` + jobClaimed + ` AND lease > 0 OFFSET 0)`
)

// ownerArgs are the arguments of keepOwner.
func (k *leaseRenewer) ownerArgs() []any {
	o := k.owner
	return []any{o.ID, o.Host, o.PID, micros(o.Started), machine(), k.lease.Microseconds()}
}

// newLeaseRenewer makes the owner of a store known and keeps it so.
func newLeaseRenewer(ctx context.Context, s *Store) (*leaseRenewer, error) {
	host, _ := os.Hostname() // "" where the system does not say
	now := time.UnixMicro(time.Now().UnixMicro()).UTC()
	owner := storage.Owner{ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true}
	k := &leaseRenewer{server: s.server, owner: &owner, lease: s.lease, notifier: s.notifier, evictions: &s.evictions, log: s.log, stop: make(chan struct{})}
	k.watch.Lease = s.lease
	err := s.writer.run(ctx, &write{do: func(ctx context.Context, w *session) error {
		if _, err := w.exec(ctx, keepOwner, k.ownerArgs()...); err != nil {
			return err
		}
		_, err := w.exec(ctx, forgetOwner, forgetAfter.Microseconds())
		return err
	}})
	if err != nil {
		return nil, err
	}
	s.owner, k.shown = owner, now
	k.done.Go(func() { k.loop(context.WithoutCancel(ctx)) })
	return k, nil
}

// resign says that the owner is dead.
func (k *leaseRenewer) resign(ctx context.Context, w *session) error {
	_, err := w.exec(ctx, resignOwner, k.owner.ID)
	return err
}

// close ends the lease renewer.
func (k *leaseRenewer) close() {
	k.mu.Lock()
	close(k.stop)
	if k.disturb != nil {
		k.disturb()
	}
	k.mu.Unlock()
	k.done.Wait()
}

// tell has others notified that something has come.
func (k *leaseRenewer) tell(what wakeup.Change) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.untold == wakeup.Nobody && k.disturb != nil {
		k.disturb()
	}
	k.untold = max(k.untold, what)
}

func (k *leaseRenewer) loop(ctx context.Context) {
	for !k.stopped() {
		if err := k.keep(ctx); err == nil {
			return
		}
		k.miss()
		pause := time.NewTimer(rand.N(reconnectEvery)) //nolint:gosec // only a pause
		select {
		case <-pause.C:
		case <-k.stop:
		}
		pause.Stop()
		k.notifier.Wake() // without a connection no notification arrives
	}
}

func (k *leaseRenewer) stopped() bool {
	select {
	case <-k.stop:
		return true
	default:
		return false
	}
}

// keep does the lease renewer's work on one connection, until it is lost or the lease renewer
// stops, which is no error.
func (k *leaseRenewer) keep(ctx context.Context) (err error) {
	bounded, cancel := context.WithTimeout(ctx, min(connectTimeout, max(k.lease/3, connectTimeout/2)))
	defer cancel()
	conn, err := pgx.ConnectConfig(bounded, k.server.config)
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = conn.Close(bounded) // it may be lost
	}()
	if _, err := conn.Exec(bounded, "LISTEN "+pgx.Identifier{k.server.channel()}.Sanitize()); err != nil {
		return err
	}
	k.notifier.Wake() // for what came before
	var renew, look, told time.Time
	for {
		now := time.Now()
		if !now.Before(renew) {
			if err := k.renew(ctx, conn); err != nil {
				return err
			}
			renew = now.Add(k.lease / 3)
			k.regain(now)
		}
		if !now.Before(look) {
			k.notifier.Wake()
			look = now.Add(lookEvery*3/4 + rand.N(lookEvery/2)) //nolint:gosec // only a pause
		}
		wake := earliest(renew, look)
		disturbed, tells := k.waits(ctx, &wake, told)
		if tells != "" {
			if err := k.exec(ctx, conn, `SELECT pg_notify(?, ?)`, k.server.channel(), tells); err != nil {
				return err
			}
			told = time.Now()
			continue
		}
		if disturbed == nil {
			return nil
		}
		if err := k.listen(disturbed, conn, wake); err != nil {
			return err
		}
	}
}

// regain notes that the owner has shown itself, with what was sent at that time.
func (k *leaseRenewer) regain(sent time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shown = sent
	if k.lost {
		k.lost, k.back = false, sent
	}
}

// miss records that the owner could not prolong its lease. When others may soon take
// the owner for dead, it counts as evicted by its own clock. Then holders of claims ask
// the server for their runs, and stop if the server does not answer.
func (k *leaseRenewer) miss() {
	k.mu.Lock()
	k.lost = true
	late := time.Since(k.shown) > k.lease/2
	k.mu.Unlock()
	if late {
		k.evictions.Add(1)
		k.notifier.Wake()
	}
}

// leaves reports whether an outage may be the reason why a lease ran out: the server was
// away from this process as well, and a living owner has not had the time of a lease to
// renew its lease.
func (k *leaseRenewer) leaves() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost || !k.back.IsZero() && time.Since(k.back) < k.lease
}

// ofJobs is behind the owner in what is told when nothing but jobs has come.
const ofJobs = " jobs"

// waits returns a context that ends when the lease renewer is disturbed, nil when it is
// to stop; or what there is to tell. What may be told only
// later brings forward when it wakes.
func (k *leaseRenewer) waits(ctx context.Context, wake *time.Time, told time.Time) (disturbed context.Context, tells string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped() {
		return nil, ""
	}
	if k.untold != wakeup.Nobody {
		at := told.Add(tellEvery)
		if !time.Now().Before(at) {
			tells = k.owner.ID
			if k.untold == wakeup.Posts {
				tells += ofJobs
			}
			k.untold = wakeup.Nobody
			return nil, tells
		}
		*wake = earliest(*wake, at)
	}
	disturbed, k.disturb = context.WithCancel(ctx)
	return disturbed, ""
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// listen waits until then for a notification of another process, and passes it
// on.
func (k *leaseRenewer) listen(ctx context.Context, conn *pgx.Conn, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	n, err := conn.WaitForNotification(ctx)
	from, what := "", wakeup.Moves
	if err == nil {
		var jobs bool
		if from, jobs = strings.CutSuffix(n.Payload, ofJobs); jobs {
			what = wakeup.Posts
		}
	}
	k.mu.Lock()
	k.disturb()
	k.mu.Unlock()
	switch {
	case err == nil && from != k.owner.ID:
		k.notifier.Heard(what)
	case err != nil && ctx.Err() == nil:
		return err
	case conn.IsClosed():
		return errors.New("the connection was lost")
	}
	return nil
}

// renew prolongs the lease. If another process took the lease for run out, the lease begins
// anew, and the holders of earlier claims are told.
func (k *leaseRenewer) renew(ctx context.Context, conn *pgx.Conn) error {
	asked, micros := time.Now(), int64(0)
	err := k.ask(ctx, conn, &micros, renewOwner, k.lease.Microseconds(), k.owner.ID)
	if err == nil {
		k.compare(asked, time.Now(), micros)
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if err := k.exec(ctx, conn, keepOwner, k.ownerArgs()...); err != nil {
		return err
	}
	if err := k.exec(ctx, conn, takeBack, codec.EncodeProcess(k.owner.Process())); err != nil {
		return err
	}
	k.evictions.Add(1)
	k.notifier.Wake()
	return nil
}

// compare compares the server's time with what was expected of it.
func (k *leaseRenewer) compare(asked, answered time.Time, micros int64) {
	if step := k.watch.Tells(asked, answered, micros); step != 0 {
		k.log.Warn("the clock of the database was set: nobody is taken for dead by it until a lease has passed", "database", k.server.place,
			"by", step.Round(time.Millisecond), "lease", k.lease)
	}
}

// ask runs a statement that returns a number, for no longer than exec does.
func (k *leaseRenewer) ask(ctx context.Context, conn *pgx.Conn, n *int64, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, max(k.lease/3, time.Second))
	defer cancel()
	return conn.QueryRow(ctx, spellPostgres(query), args...).Scan(n)
}

// exec runs a statement, for no longer than until the next would have to show the
// owner.
func (k *leaseRenewer) exec(ctx context.Context, conn *pgx.Conn, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, max(k.lease/3, time.Second))
	defer cancel()
	_, err := conn.Exec(ctx, spellPostgres(query), args...)
	return err
}

// channel is what processes on the same tables notify each other by.
func (s *server) channel() string { return "ebb:" + s.schema }

// alive reports whether an owner on a server lives: it has shown itself lately,
// and if it is on this machine its process is there.
func (r *ownerRow) alive() bool {
	return r.Leased && !r.gone()
}

// gone reports whether an owner on a server was a process of this machine, and is
// none any more.
func (r *ownerRow) gone() bool {
	return r.Machine != "" && r.Machine == machine() && !running(r.PID)
}

// holds reports whether what an owner on a server has is to be left to it. Its row was
// asked for and answered at these times. One that has resigned has a lease of zero.
func (k *leaseRenewer) holds(r *ownerRow, asked, answered time.Time) bool {
	k.compare(asked, answered, r.Clock)
	silent := k.watch.Silent(r.kept(), asked, answered)
	switch {
	case r.Lease <= 0 || r.gone():
		return false
	case k.leaves():
		return true
	case silent: // whatever the server's clock says
		return false
	default:
		return r.Leased || k.watch.Set(r.kept())
	}
}

// inheritExpired frees what an owner on a server had, unless it is alive.
func (s *Store) inheritExpired(ctx context.Context, w *session, id string) (alive bool, err error) {
	if id == s.owner.ID {
		return true, nil
	}
	var row ownerRow
	asked := time.Now()
	err = w.get(ctx, &row, w.dialect.owners+thisOwner, id)
	if errors.Is(err, storage.ErrNotFound) {
		return false, s.evict(ctx, w, id)
	}
	if err != nil || s.leaseRenewer.holds(&row, asked, time.Now()) {
		return true, err
	}
	struck, err := w.exec(ctx, w.dialect.markDead, id, row.Lease)
	if err != nil || struck == 0 { // it has shown itself
		return true, err
	}
	return false, s.evict(ctx, w, id)
}

// evictExpired frees what the dead on a server had. It looks only so often, as
// many may ask.
func (s *Store) evictExpired(ctx context.Context) error {
	if !s.leaseRenewer.looksForDead() {
		return nil
	}
	var rows []ownerRow
	var asked, answered time.Time
	err := s.readers.view(ctx, func(r *session) error {
		asked = time.Now()
		err := r.all(ctx, &rows, r.dialect.owners+selectExpired)
		answered = time.Now()
		return err
	})
	if err != nil {
		return err
	}
	for i := range rows {
		id := rows[i].ID
		if s.leaseRenewer.holds(&rows[i], asked, answered) {
			continue
		}
		err := s.writer.run(ctx, &write{alone: true, do: func(ctx context.Context, w *session) error {
			_, err := s.inheritExpired(ctx, w, id)
			return err
		}})
		if err != nil {
			return fmt.Errorf("take over what %s left: %w", id, err)
		}
	}
	return nil
}

func (k *leaseRenewer) looksForDead() bool {
	k.evicting.Lock()
	defer k.evicting.Unlock()
	if time.Since(k.looked) < min(k.lease/10, time.Second) {
		return false
	}
	k.looked = time.Now()
	return true
}

// machine returns what tells this kernel, and this set of processes in it, from
// all others; "" where that cannot be told.
var machine = sync.OnceValue(func() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	processes, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + processes
})
