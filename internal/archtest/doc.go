// Package archtest holds the tests of the architecture. It has no code of its own.
//
//	go test ./internal/archtest
//
// They check that
//   - a package imports only itself and the packages to its left (order_test.go)
//   - the pure packages use no clock, no input or output, no randomness and no goroutine (pure_test.go)
//   - no retired word returns (retired_test.go)
//   - every dependency has a comment in its go.mod that says what it saves (dependencies_test.go)
//   - the links of pages lead somewhere, and the tests, names and functions that they name exist (docs_test.go,
//     identifiers_test.go, codepage_test.go)
//   - docs/reference/guarantees.md and attacks.md have what the comments of the tests promise (promises_test.go)
//   - docs/reference/limits.md is what the directives beside the constants say (limits_test.go)
//
// Tables at the head of each file list what is forbidden. To change the architecture, change a table and give the
// reason.
package archtest
