// Package session is one call of the command: its streams, the flags that all commands have, the sources of their
// values, and the database. A command opens the database with a function of [Session] and writes its result with
// another.
package session
