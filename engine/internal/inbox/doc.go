// Package inbox is what reaches a run from outside the process that drives it: commands of
// operators in the form of messages, and the news that messages have arrived.
package inbox
