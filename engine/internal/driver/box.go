package driver

import "github.com/ebbflow/ebb/storage"

// A box is what a driver knows of the run's inbox.
type box struct {
	wakeups int64             // counter up to which messages were read: it is the number of the last that was
	unread  []storage.Message // messages that were read and that no atom waited for yet
	awaited bool              // an atom has begun to wait that one of them may be for
}
