// Package sqlstore keeps runs in a SQLite file or in a PostgreSQL database.
//
//	s, err := sqlstore.Open(ctx, "sqlite:work.db")
//	if err != nil {…}
//	defer s.Close()
//
// Use PostgreSQL for several machines. Create the tables with [Migrate], then open "postgres://…". See
// docs/how-to/deploy-on-postgresql.md.
//
// For a SQLite file, the package promises:
//
//   - If a commit returned nil, it survives the death of the process and a power cut (WAL, synchronous=FULL). A
//     commit that did not return is stored as a whole or not at all.
//   - Any number of processes on one machine may use one file. They take turns to write, and notice each other's
//     messages within 50 ms.
//   - An owner is alive as long as its process. When the process ends for any reason, another process can take over
//     its runs at once.
//   - Commits that are ready at the same time share one transaction. A single commit does not wait for others.
//   - If a file is not Ebb's, or a newer Ebb created it, [Open] refuses it and does not change it.
//
// SQLite keeps work.db-wal and work.db-shm beside work.db. Ebb keeps .work.db-turn-a and .work.db-turn-b, with which
// processes take turns, and work.db-owner-ID for each process that writes the file. The last process that closes the
// database deletes them. If processes were killed, some of the files stay until the next clean exit. If no process
// uses the database, you may delete all of them except work.db-wal, which contains the last commits. Do not put a
// database on a network file system: its locks do not work there.
package sqlstore
