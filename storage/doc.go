// Package storage defines what Ebb stores: runs with their atoms, history, messages and tokens, jobs, schedules,
// limits and definitions. A [Store] keeps them. Package memstore keeps them in memory, package sqlstore in SQLite
// or PostgreSQL.
//
//	store, err := sqlstore.Open(ctx, "sqlite:work.db")
//	…
//	eng, err := engine.New(trip, engine.WithStore(store))
//
// A program can read a store with the methods of [Reader] and send messages to runs with those of [Inbox]. Only the
// engine calls the methods of [Driver]. Stores keep times in UTC, to the microsecond.
//
// There are three kinds of writes, and one fence guards them:
//
//   - Owner writes: [Driver.Begin] raises the run's fence and returns a [Claim]. [Driver.Commit] compares the claim
//     with the run's fence and sequence number before it writes. Therefore, of two owners, only the later can
//     write.
//   - Messages: any process may insert a message into a run's inbox or end one of its tokens. The same transaction
//     increments the run's wakeup counter.
//   - Steps of a run without an owner: [Driver.Step] takes the run, loads it, and commits what one event changes,
//     in one transaction.
//
// The store commits all of a [Checkpoint] or none of it.
package storage
