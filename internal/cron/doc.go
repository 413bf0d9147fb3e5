// Package cron reads when a schedule ticks, and tells the ticks. What a spec means is
// told where schedules are: [github.com/ebbflow/ebb/jobs.Schedule].
package cron
