package command

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

// traceFlag adds the flag for the traceparent of a run.
func traceFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "traceparent", "",
		"W3C traceparent for the run and its tasks (default $TRACEPARENT)")
}

// traceparent returns the value of the flag, or of the environment. It ignores an invalid value in the environment,
// because another program may have set it.
func traceparent(flag string) (string, error) {
	if flag == "" {
		if text := os.Getenv("TRACEPARENT"); atom.CheckTraceparent(text) == nil {
			return text, nil
		}
		return "", nil
	}
	if err := atom.CheckTraceparent(flag); err != nil {
		return "", exit.Usagef("--traceparent: %w", err)
	}
	return flag, nil
}
