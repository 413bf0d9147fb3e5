// Package backend is the contract between Ebb's engine and its stores: a [Store] commits all of a [Checkpoint] or none
// of it. Only packages of Ebb call or implement it. What a program reads of a store is in package storage.
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
package backend
