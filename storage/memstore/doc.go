// Package memstore keeps runs in memory, with all promises of a database but that
// anything outlives the process.
package memstore
