package server

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A budget is memory that the connections of a server share, for the bodies of requests or for answers. The mutex of
// the connections guards it.
type budget struct {
	of      *connections
	most    int // bytes in all
	share   int // bytes that one client may have
	held    int
	clients map[string]int      // bytes of each client that has some
	parts   map[*connection]int // bytes of each connection that has some
	waiting []*waiter           // of each client, the one that waits longest first
}

// A waiter is a connection that waits until a budget has memory for it.
type waiter struct {
	conn     *connection
	size     int
	admitted chan struct{} // closed when it has the memory
}

func newBudget(of *connections, most, share int) *budget {
	return &budget{of: of, most: most, share: share, clients: map[string]int{}, parts: map[*connection]int{}}
}

// errShare is returned to a client that has all of its share.
var errShare = errors.New("server: the client has its share of the memory")

// admit waits until the budget has memory for that many bytes of a connection. While it waits, it cuts off a client
// that is slow, see [connection.isSlow], and has some of the memory. If the client of the connection has its share,
// only that client is cut off.
func (b *budget) admit(ctx context.Context, c *connection, size int) error {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.take(c, size) {
		return nil
	}
	w := &waiter{c, size, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	ctx, cancel := context.WithTimeout(ctx, admissionTime)
	defer cancel()
	look := time.NewTicker(bodyGrace)
	defer look.Stop()
	for {
		shared := b.clients[c.client]+size > b.share
		if slow := b.of.longest(func(o *connection) bool {
			return b.parts[o] > 0 && o.isSlow() && (!shared || o.client == c.client)
		}); slow != nil {
			slow.cut() // its handler releases the memory
		}
		b.of.mu.Unlock()
		select {
		case <-w.admitted:
		case <-look.C:
		case <-ctx.Done():
		}
		b.of.mu.Lock()
		i := slices.Index(b.waiting, w)
		switch {
		case i < 0:
			return nil
		case ctx.Err() == nil:
			continue
		}
		b.waiting = slices.Delete(b.waiting, i, i+1)
		if b.clients[c.client]+size > b.share {
			return errors.Join(errShare, ctx.Err())
		}
		return ctx.Err()
	}
}

// take gives memory to a connection if there is enough. The caller has locked the mutex.
func (b *budget) take(c *connection, size int) bool {
	if b.held+size > b.most || b.clients[c.client]+size > b.share {
		return false
	}
	b.held += size
	b.clients[c.client] += size
	b.parts[c] += size
	return true
}

// has reports whether a connection has some of the memory.
func (b *budget) has(c *connection) bool {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	return b.parts[c] > 0
}

// release releases the memory of a connection, and gives it to those that wait.
func (b *budget) release(c *connection) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	part := b.parts[c]
	if part == 0 {
		return
	}
	b.held -= part
	delete(b.parts, c)
	if b.clients[c.client] -= part; b.clients[c.client] == 0 {
		delete(b.clients, c.client)
	}
	// A client that has little goes first. Otherwise it would wait behind all requests of those that have much.
	slices.SortStableFunc(b.waiting, func(x, y *waiter) int { return b.clients[x.conn.client] - b.clients[y.conn.client] })
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		if !b.take(w.conn, w.size) {
			return false
		}
		close(w.admitted)
		return true
	})
}
