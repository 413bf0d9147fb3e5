// Package logevent names the events that Ebb logs. The message of each log entry is the name of an event, so that
// operators can filter and count by it. docs/reference/log-events.md lists the events, and internal/archtest compares
// that table with the code.
package logevent
