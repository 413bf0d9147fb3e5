package sqlstore

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
)

func newTestLeaseRenewer() *leaseRenewer {
	const lease = 10 * time.Second
	return &leaseRenewer{
		lease: lease, log: hclog.NewNullLogger(), server: &postgres.Server{}, watch: &liveness.Watch{Lease: lease},
	}
}

// TestClockSteps sets the server's clock, which two owners go by: one that lives and prolongs its lease, and one that
// has died. For any change of the clock, an observer leaves the living one its runs. It takes the runs of the dead one
// a lease after the death, or after the step, by its own clock.
//
// Guarantee (G6): When PostgreSQL's clock is set, live processes keep their runs, and the observer's clock detects dead
// ones within a lease.
// Also: `TestServerClockBack`, `TestServerClockForward`.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(after time.Duration) time.Duration{
		"none":          func(time.Duration) time.Duration { return 0 },
		"back":          func(time.Duration) time.Duration { return -time.Hour },
		"forward":       func(time.Duration) time.Duration { return time.Hour },
		"a second back": func(time.Duration) time.Duration { return -time.Second },
		"to and fro": func(after time.Duration) time.Duration {
			return (after/time.Second%7 - 3) * 600e9
		},
		"nearly stands": func(after time.Duration) time.Duration { return -after * 99 / 100 },
		"at half speed": func(after time.Duration) time.Duration { return -after / 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := newTestLeaseRenewer()
				begun := time.Now()
				clock := func() int64 {
					after := time.Since(begun) - 2*k.lease
					if after < 0 {
						return time.Now().UnixMicro()
					}
					return time.Now().Add(step(after)).UnixMicro()
				}
				lives, died := &ownerRow{ID: "lives", Machine: "another"}, &ownerRow{ID: "died", Machine: "another"}
				prolong := func(r *ownerRow) {
					r.Seen = moment{clock(), true}
					r.Lease = r.Seen.Int64 + k.lease.Microseconds()
				}
				var taken time.Duration
				for i := range 60 * 10 { // ten looks in a second
					after := time.Since(begun) - 2*k.lease
					if i%33 == 0 {
						prolong(lives)
					}
					if i%33 == 0 && after < 0 {
						prolong(died)
					}
					for _, r := range []*ownerRow{lives, died} {
						now := time.Now()
						r.Clock = clock()
						r.Leased = r.Lease > r.Clock
						held := k.holds(r, now, now)
						switch {
						case r == lives && !held:
							t.Fatalf("%v after the step one that lives is taken for dead", after)
						case r == died && !held && after < 0:
							t.Fatal("one is taken for dead before it died")
						case r == died && !held && taken == 0:
							taken = after
						}
					}
					time.Sleep(100 * time.Millisecond)
				}
				if taken == 0 || taken > k.lease+time.Second {
					t.Errorf("what the dead one had is free after %v", taken)
				}
			})
		})
	}
}

// TestOutageOfServer: after an outage longer than a lease, no owner counts as dead before it
// has had time to renew its lease.
//
// Guarantee (G10): After an outage, processes have a lease's time to report (tested without a server).
func TestOutageOfServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newTestLeaseRenewer()
		silent := &ownerRow{ID: "other", Machine: "another", Lease: 1}
		want := func(when string, held bool) {
			t.Helper()
			now := time.Now()
			silent.Clock = now.UnixMicro()
			if k.holds(silent, now, now) != held {
				t.Errorf("%s: what a silent owner has is left to it: %v", when, !held)
			}
		}
		want("without an outage", false)
		k.regain(time.Now())
		want("when it showed itself as always", false)
		k.lost = true
		want("in the outage", true)
		time.Sleep(time.Minute)
		want("in a long one", true)
		k.regain(time.Now())
		want("right after it", true)
		time.Sleep(k.lease - time.Nanosecond)
		want("as long as a lease after it", true)
		if k.holds(&ownerRow{ID: "resigned", Machine: "another"}, time.Now(), time.Now()) {
			t.Error("one that has resigned is left what it has")
		}
		time.Sleep(time.Nanosecond)
		want("after the lease", false)
	})
}
