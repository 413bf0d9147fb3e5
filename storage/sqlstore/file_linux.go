package sqlstore

import (
	"syscall"
	"time"
)

// settled is how long ago a folder was changed so that a later change has another time:
// file systems tell the time by ticks of some milliseconds.
const settled = 100 * time.Millisecond

// stampOf returns what changes whenever a name in a folder does; false when that cannot
// be told. A user cannot set the time of a change.
func stampOf(folder string) (stamp, bool) {
	var is syscall.Stat_t
	if err := syscall.Stat(folder, &is); err != nil {
		return stamp{}, false
	}
	changed := time.Unix(is.Ctim.Unix())
	return stamp{uint64(is.Dev), is.Ino, changed.UnixNano()}, time.Since(changed) > settled //nolint:unconvert // its type differs between machines
}
