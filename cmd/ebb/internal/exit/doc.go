// Package exit maps errors, and the states of runs at rest, to the command's exit statuses. docs/reference/cli.md has
// the table of statuses.
package exit
