// Ebb is the command of a durable workflow engine with built-in undo.
//
//	ebb run trip.asl.json        runs a definition in the Amazon States Language
//	ebb resume trip-k3v9x2ab     resumes a run whose process died or that was suspended
//	ebb show trip-k3v9x2ab       shows what the run did, and what was undone
//
// Runs are kept in a database, ebb.db in the folder it is called in unless --dsn
// or EBB_DSN name another. See `ebb help` for the other commands, and the table in
// exit.go for what the exit status says.
package main
