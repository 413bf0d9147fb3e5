// Package rules is what all stores decide alike: whether a checkpoint may be written,
// which jobs a claim takes, which runs limits and rates let in, and what the end of a
// token tells its run. It reads no clock and does no I/O. Which rows a store looks at
// before it asks, and how it locks them, is the store's own.
package rules
