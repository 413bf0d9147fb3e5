// Package checkpoint gathers what the next commit of a run holds: records of atoms, lines of
// history, timers, tokens and messages. It turns the scheduler's records into stored ones and
// back. It does no I/O and reads no clock.
package checkpoint
