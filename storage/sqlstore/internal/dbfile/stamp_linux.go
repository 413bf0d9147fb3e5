package dbfile

import (
	"os"
	"path/filepath"
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

// nameOf returns the name that an open file of this process has now; "" if it has none, or the system cannot tell.
func nameOf(file Identity) string {
	const open = "/proc/self/fd"
	all, err := os.ReadDir(open)
	if err != nil {
		return ""
	}
	for _, fd := range all {
		link := filepath.Join(open, fd.Name())
		if is, err := Identify(link); err != nil || is != file {
			continue
		}
		name, err := os.Readlink(link)
		if is, gone := Identify(name); err == nil && gone == nil && is == file {
			return name
		}
	}
	return ""
}
