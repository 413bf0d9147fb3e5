package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
)

// runLimit is the flag for the limits of one run.
const runLimit = "run-limit"

// runLimitNames are the limits of a run, in the order in which help lists them.
var runLimitNames = []string{"transitions", "atoms", "values", "iterations", "bytes", "descendants", "depth"}

// limitNamed returns the field of a limit; nil for an unknown name.
func limitNamed(l *engine.Limits, name string) *int64 {
	switch name {
	case "transitions":
		return &l.Transitions
	case "atoms":
		return &l.Atoms
	case "values":
		return &l.Values
	case "iterations":
		return &l.Iterations
	case "bytes":
		return &l.Bytes
	case "descendants":
		return &l.Descendants
	case "depth":
		return &l.Depth
	default:
		return nil
	}
}

// parseRunLimits returns what --run-limit says.
func (s *Session) parseRunLimits() (engine.Limits, error) {
	var l engine.Limits
	for _, text := range s.limited {
		name, value, _ := strings.Cut(text, "=")
		field := limitNamed(&l, name)
		if field == nil {
			return l, exit.Usagef("--%s %s: %q is not a limit (use one of %s)", runLimit, text, name,
				strings.Join(runLimitNames, ", "))
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			return l, exit.Usagef("--%s %s: want %s=N with a whole number from 1", runLimit, text, name)
		}
		*field = n
	}
	return l, nil
}

// runLimitHelp describes the limits.
func runLimitHelp() string {
	defaults := engine.DefaultLimits()
	all := slices.Clone(runLimitNames)
	for i, name := range all {
		all[i] += " (default " + strconv.FormatInt(*limitNamed(&defaults, name), 10) + ")"
	}
	return "fail a run that reaches this, NAME=N; may be repeated: " + strings.Join(all, ", ") + " (EBB_RUN_LIMIT)"
}

// RunLimits returns the limits of --run-limit, and the defaults for the others.
func (s *Session) RunLimits() engine.Limits {
	all, set := engine.DefaultLimits(), s.bounds
	for _, name := range runLimitNames {
		if n := *limitNamed(&set, name); n > 0 {
			*limitNamed(&all, name) = n
		}
	}
	return all
}
