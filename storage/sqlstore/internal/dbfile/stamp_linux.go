package dbfile

import (
	"syscall"
	"time"
)

// settled is the age at which the time of a folder's last change is reliable: a later change then gets another
// time. File systems measure time in ticks of some milliseconds.
const settled = 100 * time.Millisecond

// stampOf returns a stamp that changes whenever a name in the folder changes; false if the system cannot tell. A
// user cannot set the time of a change.
func stampOf(folder string) (stamp, bool) {
	var is syscall.Stat_t
	if err := syscall.Stat(folder, &is); err != nil {
		return stamp{}, false
	}
	changed := time.Unix(is.Ctim.Unix())
	//nolint:unconvert // its type differs between machines
	return stamp{uint64(is.Dev), is.Ino, changed.UnixNano()}, time.Since(changed) > settled
}
