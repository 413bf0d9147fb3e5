// Package storage defines what a program can read of the runs that Ebb keeps: the records, a [Reader] of them, and the
// errors of stores. Package sqlstore opens a [Store] in SQLite or PostgreSQL. Package memstore keeps one in memory, for
// tests.
//
//	store, err := sqlstore.Open(ctx, "sqlite:work.db")
//	…
//	for run, err := range storage.EachRun(ctx, store, storage.RunQuery{Flow: "trip"}) {
//
// Stores keep times in UTC, to the microsecond. A program changes runs by package engine, and jobs by package jobs.
package storage
