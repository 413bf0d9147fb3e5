// Package history knows the events of Amazon SWF: one table entry for each, with its attributes, what they refer to,
// and whether it schedules a decision task. It writes attributes in exactly the form in which the service returns
// them.
package history
