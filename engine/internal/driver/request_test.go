package driver

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// driven says that a driver of this process answers the requests of all runs.
func driven() bool { return true }

// TestRequestPutBack ends the contexts of callers whose requests a driver has taken, before the driver puts the requests
// back: because the run has ended or was fenced, or because an answer was given up. No caller waits for ever, and the
// next one leads.
func TestRequestPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q Requests
		ctx, leave := context.WithCancel(t.Context())
		wait := func(ctx context.Context, wake func() bool, lead func(*Request)) chan error {
			over, r := make(chan error, 1), &Request{Run: "r"}
			go func() { over <- q.Await(ctx, r, wake, func() { lead(r) }) }()
			synctest.Wait()
			return over
		}
		first := wait(ctx, driven, nil)
		led := false
		drives := true
		second := wait(t.Context(), func() bool { return drives }, func(*Request) {
			led = true
			for _, r := range q.Take("r") {
				r.End(nil)
			}
		})
		taken := q.Take("r")
		leave()
		synctest.Wait()
		drives = false
		q.again("r", taken)
		q.Left("r")
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that has left: %v", err)
		}
		if err := <-second; err != nil || !led || q.count.Load() != 0 {
			t.Errorf("the other caller: %v, led %v, %d lines are left", err, led, q.count.Load())
		}
	})
}

// TestLeaderPanics lets a caller panic while it leads. The next caller leads, and the request of the first is gone.
func TestLeaderPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q Requests
		leads, second := make(chan struct{}), make(chan error, 1)
		idle := func() bool { return false }
		go func() {
			<-leads
			go func() {
				second <- q.Await(t.Context(), &Request{Run: "r"}, idle, func() {
					for _, r := range q.Take("r") {
						r.End(nil)
					}
				})
			}()
		}()
		first := &Request{Run: "r"}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_ = q.Await(t.Context(), first, idle, func() {
				close(leads)
				synctest.Wait() // the second caller waits
				panic("a defect")
			})
		}()
		if err := <-second; err != nil || q.count.Load() != 0 {
			t.Errorf("%v, %d lines are left", err, q.count.Load())
		}
		select {
		case <-first.Done():
			t.Error("the next leader has taken the request of the first")
		default:
		}
	})
}
