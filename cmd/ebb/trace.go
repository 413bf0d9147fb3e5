package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/atom"
)

// traceFlag adds the flag of what a run is begun under.
func traceFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "traceparent", "", "the W3C traceparent that the run is begun under, and hands on to its tasks (default $TRACEPARENT)")
}

// traceparent returns the value of the flag, or of the environment. An invalid value in
// the environment is ignored: another program may have set it.
func traceparent(flag string) (string, error) {
	if flag == "" {
		if text := os.Getenv("TRACEPARENT"); atom.CheckTraceparent(text) == nil {
			return text, nil
		}
		return "", nil
	}
	if err := atom.CheckTraceparent(flag); err != nil {
		return "", usagef("--traceparent: %w", err)
	}
	return flag, nil
}
