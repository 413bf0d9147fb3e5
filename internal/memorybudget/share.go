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
	// memory is a quarter less then, so collecting does not take all of the processor.
	ceilingOf, ceilingIn = 4, 3
)

// Share returns the budget within a limit; 0 without one.
func Share(limit int64) int64 { return limit / shareIn * shareOf }

// Ceiling returns how much memory the Go runtime is to take when live memory may take
// so much.
func Ceiling(budget int64) int64 { return budget / ceilingIn * ceilingOf }
