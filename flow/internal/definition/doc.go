// Package definition contains what the checkers of all languages share: reading a text, naming rules, reporting
// problems, and describing fields as JSON Schema.
//
// A language has a table of its objects, and a checker that embeds a [Report].
package definition
