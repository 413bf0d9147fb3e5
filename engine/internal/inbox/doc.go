// Package inbox connects a run with what happens outside of the process that drives it. It encodes operators'
// commands as messages, and notifies driven runs when messages have arrived.
package inbox
