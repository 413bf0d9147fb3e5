package engine

import "github.com/ebbflow/ebb/internal/memorybudget"

// Memory reports how much memory the process uses, and its budget, see [Limits.Memory].
type Memory struct {
	Used      int64 // bytes of live memory
	Budget    int64 // bytes of live memory that the process may use; 0 means no budget
	Exhausted bool  // true if the budget is reached: servers take up no more runs
}

// memoryBudget returns the budget for a value of [Limits.Memory]; 0 means no budget.
func memoryBudget(limit int64) int64 {
	if limit == 0 {
		return memorybudget.Share(memorybudget.Own().Bytes)
	}
	return max(limit, 0)
}
