package server

import "context"

// pollShare is the divisor of the connections that gives the maximum number of waiting polls.
const pollShare = 2

// Poll says that the request with this context waits for work from now on, until end is called. Such requests have a
// budget of their own, so that however many workers wait, connections remain for other requests. If too many wait
// already, ok is false. Outside a [Server], nothing limits them.
func Poll(ctx context.Context) (end func(), ok bool) {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	if c == nil {
		return func() {}, true
	}
	c.of.answers.release(c) // nothing is built while it waits
	return c.of.poll()
}

// Found says that the request with this context has found work, and waits until the server has memory for the answer: a
// page of a history, or one object. Without memory it returns a *[Problem]. Outside a [Server], nothing limits answers.
func Found(ctx context.Context, page bool) error {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	if c == nil || c.of.answers.has(c) {
		return nil
	}
	size := objectSize
	if page {
		size = pageSize
	}
	if err := c.of.answers.admit(ctx, c, size); err != nil {
		return noMemory(err)
	}
	return nil
}

// Stopping returns a channel that is closed when the server of a request stops. A handler that waits then ends, and its
// client asks the next server. Outside a [Server] the channel is nil.
func Stopping(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	if c == nil {
		return nil
	}
	return c.of.stopping
}

// poll counts a request that waits for work.
func (cs *connections) poll() (end func(), ok bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.polls >= max(1, cs.most/pollShare) {
		return nil, false
	}
	cs.polls++
	return func() {
		cs.mu.Lock()
		cs.polls--
		cs.mu.Unlock()
	}, true
}
