package storage

import (
	"context"
	"time"
)

// An Owner is a process that may own runs.
type Owner struct {
	ID      string
	Host    string
	PID     int
	Started time.Time
	Seen    time.Time // by the store's clock
	Alive   bool      // as far as the store can tell
}

// Owners are the processes that drive the runs of a database, of which this store's is one.
type Owners interface {
	// Owner returns the owner of this store's claims.
	Owner() Owner
	// Database returns a text that names the database among those that processes of
	// this machine use. All stores of one database return the same text.
	Database() string
	// Evictions returns how often another process took this store's owner for dead, since
	// the store was opened and as far as the store knows. That happens to a process that was
	// stopped for longer than its lease, or whose lock was taken away. Its runs and jobs are
	// then free, so earlier claims may be void; the fence keeps them from writing. A process
	// that is cut off from its database counts itself as evicted before another process may
	// take it for dead, and again as long as that lasts. The number rises before the channel
	// of Changed is closed, and the owner lives again from then on.
	Evictions() int64
	// Owners returns the processes that own runs or did so lately.
	Owners(ctx context.Context) ([]Owner, error)
}
