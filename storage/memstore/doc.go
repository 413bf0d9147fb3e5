// Package memstore keeps runs in memory, for tests. It makes all promises of a database, except that nothing outlives
// the process.
package memstore
