package backend

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

// Owners is the part of a [Store] that knows the processes that drive runs. This process is one of them.
type Owners interface {
	// Owner returns the owner under which this store claims runs and jobs.
	Owner() storage.Owner
	// Database returns a text that identifies the database among the databases that processes of this machine use.
	// All stores of one database return the same text.
	Database() string
	// Evictions returns how often another process declared this store's owner dead since the store was opened, as far
	// as the store knows. This happens to a process that was stopped for longer than its lease, or that lost its
	// lock. Its runs and jobs are then free, so its claims may be void. The fence prevents writes under void claims.
	// A process that is cut off from its database counts itself as evicted before another process can declare it
	// dead. It counts again as long as it is cut off. The number rises before the channel of Changed is closed. The
	// owner then counts as alive again.
	Evictions() int64
	// Owners returns the processes that own runs or recently owned runs.
	Owners(ctx context.Context) ([]storage.Owner, error)
	// OwnedRuns returns how many runs each owner drives, by its ID, also an owner that has died.
	OwnedRuns(ctx context.Context) (map[string]int, error)
}
