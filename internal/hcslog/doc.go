// Package hcslog makes loggers of log/slog from loggers of hclog, with which Ebb logs, and the other way round. So
// programs and tasks may use either.
package hcslog
