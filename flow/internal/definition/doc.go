// Package definition has what the checkers of definitions share: how a text is read, how rules are named, how problems
// are reported, and how fields are described as JSON Schema.
//
// A language has a table of the objects that it knows, and a checker that embeds a [Report].
package definition
