// Package sqlstore keeps runs in a SQLite database, or on PostgreSQL.
//
//	s, err := sqlstore.Open(ctx, "sqlite:work.db")
//	if err != nil {…}
//	defer s.Close()
//
// On PostgreSQL, which is for several machines, make the tables with [Migrate]
// first, and open "postgres://…"; see docs/how-to/deploy-on-postgresql.md.
//
// What it promises for files:
//
//   - A commit that returned nil survives the death of the process and a power
//     cut (WAL, synchronous=FULL). One that did not return is there as a whole or
//     not at all.
//   - Any number of processes on one machine may use one file. They take turns
//     to write, and hear of each other's messages within 50 ms.
//   - An owner is alive as long as its process: the runs of one that died, however
//     it died, can be taken over at once.
//   - Commits that are ready at the same time share one transaction; one that
//     comes alone never waits for others.
//   - A file that is not Ebb's, or a newer Ebb's, is refused and not changed.
//
// Beside work.db lie work.db-wal and work.db-shm, which are SQLite's, the gates
// work.db-turn-a and -turn-b, and for each process that writes a file
// work.db-owner-ID. All of them may be deleted when no process uses the database,
// but for the -wal, which holds what was committed last. Network file systems do
// not keep these locks: do not put the database there.
package sqlstore
