// Package archtest holds the tests that keep the house in order; it has no code of its own.
//
//	go test ./internal/archtest
//
// They promise that
//   - a room imports only itself and the rooms to its left (order_test.go),
//   - the pure rooms have no clock, no input or output, no chance and no goroutine (pure_test.go),
//   - every dependency has a line of reason in docs/reference/dependencies.md (dependencies_test.go),
//   - no page links to what is not there, and docs/reference/guarantees.md names tests that exist (docs_test.go).
//
// What is forbidden is written down as tables at the head of each file: a change of the architecture is a change of a table, with its reason.
package archtest
