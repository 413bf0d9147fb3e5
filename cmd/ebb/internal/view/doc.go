// Package view shows runs, and problems in definitions, to people and to programs that read the command's output.
// Its input comes from package inspect and the languages; it reads no store. Its output contains no character that
// a reader cannot see.
package view
