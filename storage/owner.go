package storage

import (
	"context"
	"time"
)

// An Owner is a process that has the store open and may drive runs.
type Owner struct {
	ID      string    // unique id, new each time a process opens the store
	Host    string    // name of its machine
	PID     int       // its process ID there
	Started time.Time // when it opened the store
	Seen    time.Time // when it last renewed its lease, by the store's clock
	Alive   bool      // true if its lease is valid or, on one machine, if it holds its lock
	Stopped bool      // it is alive, but the operating system says that it was stopped; false if that is not known
}

// Owners is the part of a [Store] that knows the processes that drive runs. This process is one of them.
type Owners interface {
	// Owner returns the owner under which this store claims runs and jobs.
	Owner() Owner
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
	Owners(ctx context.Context) ([]Owner, error)
}
