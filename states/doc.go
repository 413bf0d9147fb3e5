// Package states names the states that flows, tasks, retries, jobs and engines
// can be in, and says which may follow which.
package states
