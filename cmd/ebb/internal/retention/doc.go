// Package retention deletes runs that ended long ago, and their jobs. A [Policy] says how long which runs are kept.
// Both ebb prune and ebb serve --keep use it.
package retention
