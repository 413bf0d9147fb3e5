package sqlstore

import "sync/atomic"

// Counts is what a store has written since it was opened.
type Counts struct {
	Commits int64 // transactions that changed something
	Rows    int64 // inserted, rewritten or deleted, not counting indices
	Bytes   int64 // that the statements which did so were given: what the rows hold, and what they were found by
	// Syncs is how often SQLite has waited for the disk, by its own rules at
	// synchronous=FULL: once for each commit; for each copy of the log once for
	// the log and, when all of it was copied, once for the database; and once for
	// the first commit of each log that begins anew.
	Syncs int64

	// Told is how often other processes notified this one that something came. Found is how
	// many jobs this process claimed without a notification. If Found is high, notifications
	// between processes do not arrive.
	Told, Found int64
}

// Counts returns what this store has written and was told since it was opened.
func (s *Store) Counts() Counts {
	if s.writer == nil {
		return Counts{}
	}
	c := s.writer.counts
	return Counts{
		Commits: c.commits.Load(), Rows: c.rows.Load(), Bytes: c.bytes.Load(), Syncs: c.syncs.Load(),
		Told: s.notifier.Told.Load(), Found: c.found.Load(),
	}
}

// counts are Counts in the making.
type counts struct {
	commits, rows, bytes, syncs, found atomic.Int64

	log    atomic.Int64 // pages of the log when it was copied last
	copied atomic.Int64 // pages of the log that are in the database
	anew   atomic.Bool  // all of them are, so that the next commit begins the log anew
}

// commit counts a commit.
func (c *counts) commit(rows, bytes int64) {
	c.commits.Add(1)
	c.rows.Add(rows)
	c.bytes.Add(bytes)
	c.syncs.Add(1)
	if c.anew.Swap(false) {
		c.log.Store(0)
		c.copied.Store(0)
		c.syncs.Add(1)
	}
}

// copy counts a copy of the log that was begun after so many commits and left
// the log in that state.
func (c *counts) copy(commits int64, wal walState) {
	if wal.Log < c.log.Swap(wal.Log) && !c.anew.Load() { // it began anew with a commit that came too soon to be told apart
		c.copied.Store(0)
		c.syncs.Add(2)
	}
	if wal.Checkpointed <= c.copied.Load() || c.anew.Load() {
		return // there was nothing to copy
	}
	c.copied.Store(wal.Checkpointed)
	c.syncs.Add(1)
	if wal.Checkpointed == wal.Log && commits == c.commits.Load() { // and nothing came meanwhile
		c.syncs.Add(1)
		c.anew.Store(true)
	}
}
