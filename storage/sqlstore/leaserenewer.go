package sqlstore

import (
	"context"
	"errors"
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
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	// DefaultLease is how long a process on another machine counts as alive after it last renewed its lease.
	// [Lease] and the DSN can change it.
	DefaultLease = postgres.DefaultLease

	// lookEvery is how often waiting processes poll, because a notification is only a hint and may be lost.
	lookEvery = time.Second
	// tellEvery is the shortest time between two notifications of this process. Each notification briefly delays
	// the commits of the whole server.
	tellEvery = 5 * time.Millisecond
	// reconnectEvery bounds the pause before the lease renewer connects again.
	reconnectEvery = 2 * time.Second
	// forgetAfter is how long the row of a dead owner is kept.
	forgetAfter = 10 * time.Minute
)

// Lease sets how long a process on a server counts as alive after it last renewed its lease. It renews after each
// third of a lease. With a shorter lease, other processes take over the runs of a dead process sooner, and a
// process that stalls loses its runs sooner. Lease has no effect on a file, where the operating system reports
// which owners live.
func Lease(d time.Duration) Option { return func(s *store) { s.lease = d } }

// A leaseRenewer renews the lease of a store's owner on a server, by the server's clock. It also forwards
// notifications of other processes. It has a connection of its own, so that no other statement delays it.
type leaseRenewer struct {
	server   *postgres.Server
	owner    *storage.Owner
	lease    time.Duration
	notifier *wakeup.Notifier

	awaited atomic.Int64 // until when callers of another process wait for ends of runs or for work, in microseconds

	mu      sync.Mutex
	untold  wakeup.Change // change that other processes were not notified of yet
	waiting bool          // other processes must be told that callers of this process wait
	// listened is when they were last told that.
	listened time.Time
	shown    time.Time          // when the lease was last renewed
	lost     bool               // the connection was lost
	back     time.Time          // when it connected again
	disturb  context.CancelFunc // ends the wait for notifications
	stop     chan struct{}
	done     sync.WaitGroup

	watch     *liveness.Watch
	log       hclog.Logger
	arrivals  arrivalTracker
	evictions *atomic.Int64 // how often the owner was declared dead
	health    *health

	evicting sync.Mutex
	looked   time.Time // when looksForDead last returned true
}

const (
	keepOwner = `INSERT INTO owners (id, host, pid, started, seen, machine, lease)
VALUES ($1, $2, $3, $4, ` + serverClock + `, $5, ` + serverClock + ` + $6)
ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, lease = excluded.lease`
	// renewOwner returns no row if another process has declared the owner dead.
	renewOwner = `UPDATE owners SET seen = clock.now, lease = clock.now + $1 FROM (SELECT ` + serverClock + ` AS now) clock
WHERE id = $2 AND lease > 0 RETURNING seen`
	// A lease of 0 is that of an owner that was declared dead.
	resignOwner = `UPDATE owners SET lease = -1 WHERE id = $1`
	forgetOwner = `DELETE FROM owners WHERE lease < ` + serverClock +
		` - $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE owner = owners.id AND owner <> '')`
)

// ownerArgs returns the arguments of keepOwner.
func (k *leaseRenewer) ownerArgs() []any {
	o := k.owner
	return []any{o.ID, o.Host, o.PID, micros(o.Started), machine(), k.lease.Microseconds()}
}

// newLeaseRenewer registers the owner of a store and renews its lease until close.
func newLeaseRenewer(ctx context.Context, s *store) (*leaseRenewer, error) {
	host, _ := os.Hostname() // "" if the system does not report it
	now := time.UnixMicro(time.Now().UnixMicro()).UTC()
	owner := storage.Owner{ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true}
	k := &leaseRenewer{
		server: s.server, owner: &owner, lease: s.lease, notifier: s.notifier, evictions: &s.evictions, health: &s.health,
		log: s.log, stop: make(chan struct{}), watch: &s.watch,
	}
	err := s.writer.run(ctx, &write{do: func(ctx context.Context, w *session) error {
		if _, err := w.Exec(ctx, keepOwner, k.ownerArgs()...); err != nil {
			return err
		}
		_, err := w.Exec(ctx, forgetOwner, forgetAfter.Microseconds())
		return err
	}})
	if err != nil {
		return nil, err
	}
	s.owner, k.shown = owner, now
	k.done.Go(func() { k.loop(context.WithoutCancel(ctx)) })
	return k, nil
}

// resign records that the owner has ended.
func (k *leaseRenewer) resign(ctx context.Context, w *session) error {
	_, err := w.Exec(ctx, resignOwner, k.owner.ID)
	return err
}

// close stops the lease renewer.
func (k *leaseRenewer) close() {
	k.mu.Lock()
	close(k.stop)
	if k.disturb != nil {
		k.disturb()
	}
	k.mu.Unlock()
	k.done.Wait()
}

func (k *leaseRenewer) loop(ctx context.Context) {
	for !k.stopped() {
		err := k.keep(ctx)
		if err == nil {
			return
		}
		_ = k.health.note(ctx, err, true)
		k.miss()
		pause := time.NewTimer(rand.N(reconnectEvery)) //nolint:gosec // only a pause
		select {
		case <-pause.C:
		case <-k.stop:
		}
		pause.Stop()
		k.notifier.Wake() // without a connection no notification arrives, so wake the waiting callers
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

// keep renews the lease and forwards notifications on one connection. If the lease renewer stops, keep returns nil.
// If the connection is lost, it returns the error.
func (k *leaseRenewer) keep(ctx context.Context) (err error) {
	bounded, cancel := context.WithTimeout(ctx, min(postgres.ConnectTimeout, max(k.lease/3, postgres.ConnectTimeout/2)))
	defer cancel()
	conn, err := postgres.Patiently(bounded, func(ctx context.Context) (*pgx.Conn, error) {
		return pgx.ConnectConfig(ctx, k.server.Config)
	})
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_ = conn.Close(bounded) // the connection may be lost
	}()
	if _, err := conn.Exec(bounded, "LISTEN "+pgx.Identifier{k.server.Channel()}.Sanitize()); err != nil {
		return err
	}
	k.notifier.Wake() // notifications before this point were missed
	var renew, look, told time.Time
	for {
		now := time.Now()
		if !now.Before(renew) {
			if err := k.renew(ctx, conn); err != nil {
				return err
			}
			_ = k.health.note(ctx, nil, true)
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
			if err := k.exec(ctx, conn, `SELECT pg_notify($1, $2)`, k.server.Channel(), tells); err != nil {
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

// regain records that a statement sent at this time renewed the lease.
func (k *leaseRenewer) regain(sent time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shown = sent
	if k.lost {
		k.lost, k.back = false, sent
	}
}

// miss records that the owner could not renew its lease. Shortly before other processes may declare the owner dead,
// it counts as evicted by its own clock. Holders of claims then ask the server for their runs, and stop if the
// server does not answer.
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

// renew renews the lease. If another process has ended the lease, renew registers the owner again and counts an
// eviction, so that the holders of earlier claims stop.
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

// compare logs a warning if the server's clock was set.
func (k *leaseRenewer) compare(asked, answered time.Time, micros int64) {
	if step := k.watch.Tells(asked, answered, micros); step != 0 {
		k.log.Warn(logevent.ClockSet, "database", k.server.Place, "by", logevent.Duration(step),
			"lease", logevent.Duration(k.lease))
	}
}

// ask runs a statement that returns a number, with the time limit of exec.
func (k *leaseRenewer) ask(ctx context.Context, conn *pgx.Conn, n *int64, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, max(k.lease/3, time.Second))
	defer cancel()
	return conn.QueryRow(ctx, query, args...).Scan(n)
}

// exec runs a statement with a time limit of a third of a lease, because the next renewal is due then.
func (k *leaseRenewer) exec(ctx context.Context, conn *pgx.Conn, query string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, max(k.lease/3, time.Second))
	defer cancel()
	_, err := conn.Exec(ctx, query, args...)
	return err
}

// machine returns a text that identifies this kernel and this process namespace; "" if the system does not report
// them.
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
