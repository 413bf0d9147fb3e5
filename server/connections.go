package server

import (
	"net"
	"sync"
	"time"
)

// connections are a listener whose connections are bounded. When one more comes, the
// listener cuts off the connection for whose client the server has waited longest: with an idle
// connection, an incomplete request, a body that does not arrive, or an answer that is not
// read. So a client that asks and reads is answered, however many others do not: a new
// connection is the last to be cut off. Those are not cut off that wait for the server, as
// it is not as fast as its clients are, or at work. Fewer are at work than there may be
// connections (see [connections.begin]).
type connections struct {
	net.Listener

	most     int  // connections
	secure   bool // they speak TLS, so that their heads cannot be seen
	mu       sync.Mutex
	changed  *sync.Cond // a connection has gone, or may be cut off now
	all      map[*connection]struct{}
	count    [stageCount]int
	held     int           // bytes of bodies
	released chan struct{} // closed when some of them are given back
}

// Shares of the connections.
const (
	headShare = 4 // one of so many may have begun the head of a request: each costs memory that nothing else bounds
	workShare = 5 // all but one of so many may be at work
)

func newConnections(l net.Listener, most int, secure bool) *connections {
	cs := &connections{Listener: l, most: most, secure: secure, all: map[*connection]struct{}{}, released: make(chan struct{})}
	cs.changed = sync.NewCond(&cs.mu)
	return cs
}

// Accept takes a connection on, and cuts another off when there are too many.
func (cs *connections) Accept() (net.Conn, error) {
	conn, err := cs.Listener.Accept()
	if err != nil {
		return nil, err
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for len(cs.all) >= cs.most {
		if !cs.cutLongest((*connection).waits) {
			cs.changed.Wait() // for the server itself, which is not as fast as the clients are
		}
	}
	c := &connection{Conn: conn, of: cs, since: time.Now()}
	cs.all[c] = struct{}{}
	cs.count[stageNew]++
	return c, nil
}

// longest returns the connection that has been in its stage for longest, of those that
// may be. The caller has the mutex.
func (cs *connections) longest(may func(*connection) bool) *connection {
	var found *connection
	for c := range cs.all {
		if may(c) && (found == nil || c.since.Before(found.since)) {
			found = c
		}
	}
	return found
}

// cutLongest cuts off the connection that longest returns. It skips a connection with data
// that the server has not read yet: there the server is late, not the client. It reports
// whether it cut a connection off. The caller must hold the mutex.
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

// boundHeads cuts off a connection with an incomplete head when there are too many. The
// caller has the mutex.
func (cs *connections) boundHeads() {
	if cs.count[stageHead] > max(1, cs.most/headShare) {
		cs.cutLongest(func(c *connection) bool { return c.stage == stageHead && c.waits() })
	}
}

// begin reports whether a request may be worked on, always one for which no work is to be
// done, and lets its connection enter that stage.
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
