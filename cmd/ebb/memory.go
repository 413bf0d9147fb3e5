package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/memorybudget"
)

// memoryFlag is the flag that says how much memory may be in use.
const memoryFlag = "memory"

const memoryHelp = "take up no more work while so much memory is in use, such as 512MiB, or off " +
	"(default three fifths of the limit of the process's control group) (EBB_MEMORY)"

// sizeUnits are the units of sizes in flags. Units of a thousand are left out, because readers take GB for either.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}

// parseSize reads a number of bytes, such as 1.5GiB.
func parseSize(text string) (int64, bool) {
	factor := int64(1)
	for _, unit := range sizeUnits {
		if number, is := strings.CutSuffix(text, unit.name); is {
			text, factor = strings.TrimSpace(number), unit.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpPeEnN_+") || n*float64(factor) < 1 || n*float64(factor) > 1<<60 {
		return 0, false
	}
	return int64(n * float64(factor)), true
}

// size returns a number of bytes as it is shown.
func size(n int64) string {
	for _, unit := range []int{2, 1, 0} {
		if u := sizeUnits[unit]; n >= u.bytes {
			return strconv.FormatFloat(float64(n*10/u.bytes)/10, 'f', -1, 64) + " " + u.name //nolint:mnd // one digit behind the point
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

// memoryBudget returns what --memory says, as [engine.Limits] takes it.
func (s *session) memoryBudget() (int64, error) {
	switch s.memory {
	case "":
		return 0, nil
	case "off":
		return -1, nil
	}
	n, ok := parseSize(s.memory)
	if !ok {
		return 0, usagef("--%s %s: want a size such as 512MiB or 2GiB, or off", memoryFlag, s.memory)
	}
	return n, nil
}

// engineLimits returns the limits of an engine that drives runs, and lets the runtime collect
// garbage in time, also without a budget.
func (s *session) engineLimits() engine.Option {
	budget := s.bounds.Memory
	if budget <= 0 {
		budget = memorybudget.Share(memorybudget.Own().Bytes)
	}
	if budget > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memorybudget.Ceiling(budget))
	}
	return engine.WithLimits(s.bounds)
}

// effectiveBudget returns how much memory may be in use; 0 when any may.
func (s *session) effectiveBudget() int64 {
	if s.bounds.Memory == 0 {
		return memorybudget.Share(memorybudget.Own().Bytes)
	}
	return max(s.bounds.Memory, 0)
}

// memory says how much memory a process has that is started as this one was.
func (d *doctor) memory(limit memorybudget.Limit, budget int64) {
	const do = "set --memory to three fifths of the limit or less, so that memory is left for garbage, SQLite and the programs of tasks"
	within := "no limit of a control group"
	if limit.Bytes > 0 {
		within = fmt.Sprintf("a limit of %s (%s)", size(limit.Bytes), limit.File)
	}
	switch {
	case budget == 0 && limit.Bytes > 0:
		d.findf("memory", isWarning, "leave out --memory off, or set a size", "%s, and no budget: the system may kill the process and all runs in it", within)
	case budget == 0:
		d.findf("memory", isOK, "", "%s, and no budget", within)
	case limit.Bytes > 0 && memorybudget.Ceiling(budget) > limit.Bytes:
		d.findf("memory", isWarning, do, "%s, and a budget of %s: the system may kill the process before it is reached", within, size(budget))
	default:
		d.findf("memory", isOK, "", "%s, and a budget of %s, beyond which a process takes up no more work", within, size(budget))
	}
}
