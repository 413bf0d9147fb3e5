package driver

import "github.com/ebbflow/ebb/storage"

// A box contains what others want of a driven run: the messages that the driver has read from the run's inbox, and the
// requests of callers.
type box struct {
	wakeups int64             // wakeup counter up to which messages were read: the number of the last message
	unread  []storage.Message // messages that were read and that no atom waited for yet
	awaited bool              // an atom has started to wait, perhaps for one of them
	moved   bool              // the language has answered what follows from an end

	requests requests
}
