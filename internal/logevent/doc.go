// Package logevent names the events that Ebb logs. The message of each log entry is the name of an event, so that
// operators can filter and count by it. internal/archtest writes docs/reference/log-events.md from the comments of the
// constants, and from the calls that log them.
package logevent
