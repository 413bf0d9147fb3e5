// Package command contains the subcommands of ebb, one in each file: its flags, its arguments, and its output.
package command
