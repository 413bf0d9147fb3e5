package sqlstore

import (
	"sync"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// claims caches the content of the rows of the runs under this store's claims. A commit then does not read the row,
// and writes only the parts that change.
type claims struct {
	mu    sync.Mutex
	byID  map[string]*claimed
	later map[string]*claimed // claims of Due that have not begun; some never begin
}

// maxLater bounds the number of claims that have not begun.
const maxLater = 10_000

// claimed is the cached content of a run's row under a claim. It is immutable.
type claimed struct {
	n      int64
	bucket int64  // number of the run's bucket; 0 if no limit counts the run
	rest   ending // the rarely changed part of the row
	has    parts  // tables that may have atoms of the run
	recent inline.Records
}

func claimedOf(row *runRow) *claimed {
	return &claimed{n: row.N, bucket: row.Bucket, rest: row.ending(), has: row.parts(), recent: row.Recent}
}

func (c *claims) put(id string, is *claimed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[string]*claimed{}
	}
	delete(c.later, id)
	c.byID[id] = is
}

// putLater is put for a claim that has not begun.
func (c *claims) putLater(id string, is *claimed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.later == nil || len(c.later) >= maxLater {
		c.later = map[string]*claimed{}
	}
	c.later[id] = is
}

// get returns nil if the claim is not cached. The commit then reads the row.
func (c *claims) get(id string) *claimed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if is := c.byID[id]; is != nil {
		return is
	}
	return c.later[id]
}

func (c *claims) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
	delete(c.later, id)
}
