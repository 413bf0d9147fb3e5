// Package storage says what Ebb keeps and how it may be written: the records and the
// [Store] contract. Package memstore keeps them in memory, package sqlstore in a
// database. Both pass one suite of tests.
//
//	s := memstore.New()
//	err := s.Create(ctx, storage.Run{ID: "trip-1", Flow: "trip"})
//	claim, snap, err := s.Begin(ctx, "trip-1")
//	…
//	err = s.Commit(ctx, claim, &storage.Checkpoint{Head: head, Atoms: changed, History: entries})
//
// Times are kept to the microsecond, in UTC.
//
// There are three kinds of writes, and one fence between them.
//
// Owner writes. [Store.Begin] raises the run's fence and hands out a [Claim];
// every [Store.Commit] under it starts by checking fence, claim and sequence
// number against the run's row, so of two owners only the later can write.
//
// Messages. Any process may insert a message into a run's inbox or end one of its
// tokens. Each message increments the run's wakeup counter in the same transaction.
//
// Steps of a run without an owner. [Store.Step] takes the run, loads it, and commits
// what one event makes of it, all in one transaction.
//
// Everything in one [Checkpoint] becomes durable together or not at all.
package storage
