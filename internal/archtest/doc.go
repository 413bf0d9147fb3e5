// Package archtest holds the tests of the architecture. It has no code of its own.
//
//	go test ./internal/archtest
//
// They promise that
//   - a package imports only itself and the packages to its left (order_test.go),
//   - the pure packages use no clock, no input or output, no randomness and no goroutine (pure_test.go),
//   - every dependency has a line of reason in docs/reference/dependencies.md (dependencies_test.go),
//   - no page links to what is not there, and docs/reference/guarantees.md names tests that exist (docs_test.go).
//
// Tables at the head of each file list what is forbidden. To change the architecture, change a table and give the
// reason.
package archtest
