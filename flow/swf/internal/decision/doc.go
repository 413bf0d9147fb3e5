// Package decision knows the decisions of Amazon SWF: one table entry for each, with its members, their constraints,
// the events that it causes and the causes of its failure. It parses the decisions of a decision task, and validates
// all of them before any takes effect. It applies none.
package decision
