// Package hcslog lets programs that log with log/slog give their logger to Ebb, which
// logs with hclog:
//
//	eng, err := engine.New(root, engine.WithLogger(hcslog.Logger(slog.Default().Handler())))
package hcslog
