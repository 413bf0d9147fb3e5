package driver

import "github.com/ebbflow/ebb/storage"

// A box holds what a driver has read of the run's inbox.
type box struct {
	wakeups int64             // counter up to which messages were read: the number of the last one
	unread  []storage.Message // messages that were read and that no atom waited for yet
	awaited bool              // an atom has begun to wait, perhaps for one of them
}
