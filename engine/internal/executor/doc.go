// Package executor makes the calls of one run. It executes and reverts atoms, on goroutines of its own or on its
// caller's. It limits the time of calls, and gives up calls that continue after their context has ended. The driver
// decides which calls to make and what their ends mean.
package executor
