// Package driver drives one run at a time from its last commit until it rests. It gives events to the scheduler,
// carries out the scheduler's commands, commits, and waits. Its phases are those of TaskFlow's engine: RESUMING,
// SCHEDULING, WAITING and ANALYZING, see [Driver].
package driver
