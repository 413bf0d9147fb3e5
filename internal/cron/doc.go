// Package cron parses the specs of schedules and computes their ticks. [github.com/ebbflow/ebb/jobs.Schedule] describes
// specs.
package cron
