// Package hcslog makes loggers of log/slog from loggers of hclog, which Ebb uses, and vice versa. So programs and tasks
// may use either.
package hcslog
