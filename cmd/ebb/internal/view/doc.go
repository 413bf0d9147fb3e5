// Package view shows runs, and what is wrong in definitions, to people and to programs that read the command's output.
// What it shows comes from package inspect and the languages; it asks no store. No character that a reader cannot see
// leaves it.
package view
