package sqlstore

import (
	"sync"
	"time"
)

const (
	// maxTurn is about how long the writes of a transaction may take when other
	// processes wait for their turn: each of them waits for one of every other.
	maxTurn = 4 * time.Millisecond
	// minBatch is how many writes may share a transaction however long each takes.
	minBatch = 8
	// forgetWaits is the number of transactions without a waiting process after which a
	// process assumes again that it alone writes to the database.
	forgetWaits = 16
	// paceWeight is that of what was seen before, to 1 of the last transaction.
	paceWeight = 7
)

// A pace is how fast a process writes, and whether other processes wait for it. Both
// determine how many writes may share a transaction. If no other process waits, all that
// queue may share one, because the sync takes longest.
type pace struct {
	mu     sync.Mutex
	each   time.Duration // what one write took lately, without the sync
	shared int           // for so many transactions more others are taken to be there
}

// took notes how long the writes of a transaction took.
func (p *pace) took(d time.Duration, writes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each = (p.each*paceWeight + d/time.Duration(writes)) / (paceWeight + 1)
}

// left notes at the end of a turn whether another process waited for it.
func (p *pace) left(wanted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wanted {
		p.shared = forgetWaits
	} else {
		p.shared = max(p.shared-1, 0)
	}
}

// most returns how many writes a transaction may hold.
func (p *pace) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shared == 0 {
		return maxBatch
	}
	return min(max(int(maxTurn/max(p.each, 1)), minBatch), maxBatch)
}
