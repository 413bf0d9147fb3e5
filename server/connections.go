package server

import (
	"net"
	"sync"
	"time"
)

// connections are a listener with a limited number of connections. When one too many arrives, the listener cuts off
// the connection for whose client the server has waited longest. Such a connection is idle, or has an incomplete
// request, a body that does not arrive, or an answer that is not read. A new connection is the last to be cut off.
// Therefore, the server answers clients that send requests and read answers, no matter how many others do not. It
// does not cut off connections that wait for the server or whose handler is running. The number of running handlers
// is below the number of connections (see [connections.begin]).
type connections struct {
	net.Listener

	most     int  // maximum number of connections
	secure   bool // they use TLS, so the listener cannot see their heads
	mu       sync.Mutex
	changed  *sync.Cond // a connection has gone, or can be cut off now
	all      map[*connection]struct{}
	count    [stageCount]int
	bodies   *budget       // memory for bodies
	answers  *budget       // memory for answers
	polls    int           // requests that wait for work, see [Poll]
	stopping chan struct{} // closed when the server stops
}

// Shares of the maximum number of connections.
const (
	//limit:http connections with an incomplete head | a quarter of all | cuts off the oldest
	headShare = 4 // one in this many may have an incomplete head: each costs memory that nothing else bounds
	//limit:http connections at work | four fifths of all | 503
	workShare = 5 // all but one in this many may have a running handler
)

//limit:http requests sent before the previous answer | 1 | closes the connection after that answer
func newConnections(l net.Listener, most int, secure bool) *connections {
	cs := &connections{
		Listener: l, most: most, secure: secure, all: map[*connection]struct{}{}, stopping: make(chan struct{}),
	}
	cs.bodies = newBudget(cs, maxBodies, maxBodies)
	cs.answers = newBudget(cs, maxAnswers, maxAnswers/2) //nolint:mnd // a client leaves half to others
	cs.changed = sync.NewCond(&cs.mu)
	return cs
}

// Accept accepts a connection, and cuts another off if there are too many.
func (cs *connections) Accept() (net.Conn, error) {
	conn, err := cs.Listener.Accept()
	if err != nil {
		return nil, err
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for len(cs.all) >= cs.most {
		if !cs.cutLongest((*connection).waits) {
			cs.changed.Wait() // wait for the server itself, which is slower than its clients
		}
	}
	c := &connection{Conn: conn, of: cs, since: time.Now()}
	cs.all[c] = struct{}{}
	cs.count[stageNew]++
	return c, nil
}

// longest returns, of the connections that may selects, the one that has been in its stage longest. The caller has
// locked the mutex.
func (cs *connections) longest(may func(*connection) bool) *connection {
	var found *connection
	for c := range cs.all {
		if may(c) && (found == nil || c.since.Before(found.since)) {
			found = c
		}
	}
	return found
}

// cutLongest cuts off the connection that longest returns. It skips a connection with data that the server has not
// read: there the server is late, not the client. It reports whether it cut a connection off. The caller has locked
// the mutex.
func (cs *connections) cutLongest(may func(*connection) bool) bool {
	for {
		c := cs.longest(may)
		if c == nil {
			return false
		}
		if c.stage > stageHead || !hasArrived(c.Conn) {
			c.cut()
			return true
		}
		c.due = true
	}
}

// boundHeads cuts off a connection with an incomplete head if there are too many. The caller has locked the mutex.
func (cs *connections) boundHeads() {
	if cs.count[stageHead] > max(1, cs.most/headShare) {
		cs.cutLongest(func(c *connection) bool { return c.stage == stageHead && c.waits() })
	}
}

// begin moves the connection to stageWork, and reports whether the request may be handled. If always is true, it
// may.
func (cs *connections) begin(c *connection, always bool) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if !always && cs.count[stageWork]+cs.count[stageBody] >= cs.most-max(1, cs.most/workShare) {
		slow := cs.longest((*connection).isSlow)
		if slow == nil {
			return false
		}
		slow.cut()
	}
	c.enter(stageWork)
	return true
}
