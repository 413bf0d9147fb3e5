package server

import (
	"testing"
	"testing/synctest"
)

// TestBudgetIsFair: a client that has no memory gets some before clients that have some and have waited longer.
//
// Attack (HTTP server): Hundreds of requests of some clients that wait for memory.
// Result: The request of another client does not wait behind them.
func TestBudgetIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cs := newConnections(nil, 10, false)
		b := newBudget(cs, 3, 3)
		admit := func(client string) *connection {
			c := &connection{of: cs, client: client}
			go func() {
				if err := b.admit(t.Context(), c, 1); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
			return c
		}
		many := make([]*connection, 5)
		for i := range many {
			many[i] = admit("many")
		}
		one := admit("one")
		b.release(many[0])
		if !b.has(one) || b.has(many[3]) {
			t.Error("the client with nothing waits behind the one with much")
		}
		for _, c := range many {
			b.release(c)
			synctest.Wait()
		}
		b.release(one)
		if b.held != 0 || len(b.waiting)+len(b.clients)+len(b.parts) != 0 {
			t.Errorf("%+v is not empty", b)
		}
	})
}
