package engine

import "github.com/ebbflow/ebb/internal/memorybudget"

// Memory is how much memory the process has and uses, see [Limits].
type Memory struct {
	Used      int64 // live bytes
	Budget    int64 // 0 when there is none
	Exhausted bool  // the budget is reached, and nothing is taken up
}

// memoryBudget returns the budget that a limit of [Limits.Memory] stands for; 0 is none.
func memoryBudget(limit int64) int64 {
	if limit == 0 {
		return memorybudget.Share(memorybudget.Own().Bytes)
	}
	return max(limit, 0)
}
