package sqlstore

import (
	"sync"
	"time"
)

const (
	// maxTurn is about how long the writes of a transaction may take while other processes wait for their turn.
	// Each process waits for one transaction of every other process.
	maxTurn = 4 * time.Millisecond
	// minBatch is the number of writes that may share a transaction even if each takes long.
	minBatch = 8
	// forgetWaits is the number of transactions without a waiting process after which a
	// process assumes again that it alone writes to the database.
	forgetWaits = 16
	// paceWeight is the weight of earlier transactions against 1 for the last one.
	paceWeight = 7
)

// A pace measures how fast a process writes, and whether other processes wait for their turn. Both determine how
// many writes may share a transaction. If no other process waits, all queued writes may share one, because the sync
// takes longest.
type pace struct {
	mu     sync.Mutex
	each   time.Duration // average duration of one recent write, without the sync
	shared int           // number of further transactions for which other processes are assumed to wait
}

// took records how long the writes of a transaction took.
func (p *pace) took(d time.Duration, writes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each = (p.each*paceWeight + d/time.Duration(writes)) / (paceWeight + 1)
}

// left records at the end of a turn whether another process waited for it.
func (p *pace) left(wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wanted {
		p.shared = forgetWaits
	} else {
		p.shared = max(p.shared-1, 0)
	}
}

// most returns the maximum number of writes in a transaction.
func (p *pace) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared == 0 {
		return maxBatch
	}
	return min(max(int(maxTurn/max(p.each, 1)), minBatch), maxBatch)
}
