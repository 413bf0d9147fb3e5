package sqlstore

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestOutageOfServer: after an outage that is longer than a lease nobody is taken
// for dead who has not had the time to show himself.
func TestOutageOfServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{lease: 10 * time.Second}
		silent := &ownerRow{ID: "other", Machine: "another", Lease: 1}
		want := func(when string, held bool) {
			t.Helper()
			if k.holds(silent) != held {
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
		if k.holds(&ownerRow{ID: "resigned", Machine: "another"}) {
			t.Error("one that has resigned is left what it has")
		}
		time.Sleep(time.Nanosecond)
		want("after the lease", false)
	})
}
