// Package runfilter finds runs by a filter that a person types, such as `state:FAILURE -flow:trip ended:<1h`. [Parse]
// reads the text, [Filter.String] writes it back, and [Find] reads the runs of a store within a bound on its work.
// The package is pure: it is told the time.
//
// A filter is a list of terms, separated by spaces. All of them must hold. A term is a field, a colon and values that
// are separated by commas, of which one must hold; `-` before the field negates the term. A text without a field is the
// beginning of an id. A `*` at the end of a text means that it is a beginning. Within quotation marks, every character
// but `"` and `\` stands for itself.
//
//	flow, id, parent, definition, code   a text
//	state                                a state of a run, such as FAILURE
//	outcome                              unfinished, succeeded, failed, timed_out, cancelled or continued
//	undo                                 none, undone, partly or failed
//	label                                KEY, or KEY=VALUE
//	created, ended                       <1h, >2d, or FROM..TO with dates or times
//	is                                   top, person, open or ended
//	waits                                KIND, or KIND=NAME, of a group of [Waiting], such as worker=payments
package runfilter
