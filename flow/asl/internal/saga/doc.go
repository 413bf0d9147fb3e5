// Package saga writes a machine that uses Revert as one of plain States Language, which AWS takes.
//
// The machine records in a variable what its Tasks did, as a list that grows at its head: JSONPath cannot append. A
// branch of a Parallel and an iteration of a Map have variables of their own. There each failure is caught, and handed
// out with the list of what was done. If the machine fails, a loop at its top level takes the entries of the lists one
// by one and calls what undoes them.
package saga
