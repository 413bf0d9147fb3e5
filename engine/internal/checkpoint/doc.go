// Package checkpoint builds the next commit of a run: records of atoms, lines of history, timers, tokens and
// messages. It converts between the scheduler's records and stored ones. It does no I/O and reads no clock.
package checkpoint
