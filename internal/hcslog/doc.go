// Package hcslog lets programs that log with log/slog give their logger to Ebb, which
// logs with hclog.
package hcslog
