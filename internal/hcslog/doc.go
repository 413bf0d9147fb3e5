// Package hcslog makes loggers of hclog, which Ebb uses, from loggers of log/slog.
package hcslog
