package memorybudget

// Live memory may take three fifths of a limit. The rest is for what lives beside it in the
// same control group:
//
//   - garbage between two collections: [Ceiling] lets the runtime collect in time
//   - memory that the Go runtime does not count: the page caches of SQLite, which has an
//     allocator of its own, threads, and the code of the program
//   - programs that tasks start, and the supervisors of those
//   - files in the page cache, such as the log of the database, some of which is dirty
const (
	shareOf, shareIn = 3, 5

	// From a third above the budget, which is four fifths of the limit, the runtime collects garbage more often. Live
	// memory within the budget is at most three quarters of that, so collecting does not take the whole processor.
	ceilingOf, ceilingIn = 4, 3
)

// Share returns the budget within a limit, or 0 without one.
//
//limit:memory live memory of a process (`--memory`, `engine.Limits.Memory`) | 3/5 of its control group's limit*
//limit:and | takes up no work until a tenth of the budget is free
func Share(limit int64) int64 { return limit / shareIn * shareOf }

// Ceiling returns the soft limit of the Go runtime for a budget of live memory.
//
//limit:memory Go's soft memory limit (`GOMEMLIMIT`) | 4/3 of the budget* | more garbage collection
func Ceiling(budget int64) int64 { return budget / ceilingIn * ceilingOf }
