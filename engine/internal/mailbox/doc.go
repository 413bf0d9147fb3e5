// Package mailbox holds what others have sent to a driven run until the run receives it. It decides what comes next:
// messages come in the order in which they were committed, but the end of an attempt comes before what stops the run.
// It does no I/O.
package mailbox
