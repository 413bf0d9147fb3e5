package sqlstore

import "sync/atomic"

// Counts says how much a store has written since it was opened.
type Counts struct {
	Commits int64 // number of transactions that changed rows
	Writes  int64 // number of writes in these transactions: more than Commits if transactions are shared
	Rows    int64 // number of rows inserted, updated or deleted, not counting indexes
	Bytes   int64 // size of the arguments of the statements that wrote these rows
	// Syncs is the number of times that SQLite waited for the disk. It is computed from SQLite's rules at
	// synchronous=FULL:
	//
	//   - one sync for each commit
	//   - one of the WAL for each checkpoint of the WAL, and one of the database if the checkpoint is complete
	//   - one more for the first commit after the WAL started over
	Syncs int64

	// Told is how often other processes notified this one of messages or jobs. Found is how many jobs this process
	// claimed without a notification. A high Found means that notifications between processes do not arrive.
	Told, Found int64
}

// Counts: see [Store.Counts].
func (s *store) Counts() Counts {
	if s.writer == nil {
		return Counts{}
	}
	c := s.writer.counts
	return Counts{
		Commits: c.commits.Load(), Writes: c.writes.Load(), Rows: c.rows.Load(), Bytes: c.bytes.Load(), Syncs: c.syncs.Load(),
		Told: s.notifier.Told.Load(), Found: c.found.Load(),
	}
}

// counts are the counters from which Counts is computed.
type counts struct {
	commits, writes, rows, bytes, syncs, found atomic.Int64

	log    atomic.Int64 // pages in the WAL at its last checkpoint
	copied atomic.Int64 // pages of the WAL that were copied into the database
	anew   atomic.Bool  // all pages were copied, so the next commit starts the WAL over
}

// commit counts one commit of a number of writes.
func (c *counts) commit(writes int, rows, bytes int64) {
	c.commits.Add(1)
	c.writes.Add(int64(writes))
	c.rows.Add(rows)
	c.bytes.Add(bytes)
	c.syncs.Add(1)
	if c.anew.Swap(false) {
		c.log.Store(0)
		c.copied.Store(0)
		c.syncs.Add(1)
	}
}

// copy counts a checkpoint of the WAL that started after this number of commits and left the WAL in this state.
func (c *counts) copy(commits int64, wal walState) {
	// The WAL started over with a commit that this process did not notice.
	if wal.Log < c.log.Swap(wal.Log) && !c.anew.Load() {
		c.copied.Store(0)
		c.syncs.Add(2)
	}
	if wal.Checkpointed <= c.copied.Load() || c.anew.Load() {
		return // there was nothing to copy
	}
	c.copied.Store(wal.Checkpointed)
	c.syncs.Add(1)
	if wal.Checkpointed == wal.Log && commits == c.commits.Load() { // and no commit happened meanwhile
		c.syncs.Add(1)
		c.anew.Store(true)
	}
}
