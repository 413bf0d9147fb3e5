package session

import (
	"os"
	"runtime/debug"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/memorybudget"
)

// memoryFlag is the flag for the memory budget.
const memoryFlag = "memory"

const memoryHelp = "memory budget: take up no more runs while this much is in use, such as 512MiB, or off " +
	"(default three fifths of the limit of the process's control group) (EBB_MEMORY)"

// parseMemory returns --memory in the form of [engine.Limits].
func (s *Session) parseMemory() (int64, error) {
	switch s.memory {
	case "":
		return 0, nil
	case "off":
		return -1, nil
	}
	n, ok := view.ParseSize(s.memory)
	if !ok {
		return 0, exit.Usagef("--%s %s: want a size such as 512MiB or 2GiB, or off", memoryFlag, s.memory)
	}
	return n, nil
}

// EngineLimits returns the limits of an engine that drives runs. It also makes the runtime collect garbage in time, but
// seldom while little memory is in use. GOMEMLIMIT and GOGC prevail.
func (s *Session) EngineLimits() engine.Option {
	budget := s.bounds.Memory
	if budget <= 0 {
		budget = memorybudget.Share(memorybudget.Own().Bytes)
	}
	if budget > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memorybudget.Ceiling(budget))
	}
	if os.Getenv("GOGC") == "" {
		memorybudget.AllowGarbage(max(budget, 0))
	}
	return engine.WithLimits(s.bounds)
}

// MemoryBudget returns the memory budget in bytes; 0 means none.
func (s *Session) MemoryBudget() int64 {
	if s.bounds.Memory == 0 {
		return memorybudget.Share(memorybudget.Own().Bytes)
	}
	return max(s.bounds.Memory, 0)
}
