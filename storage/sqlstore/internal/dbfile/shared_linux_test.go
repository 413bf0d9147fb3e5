package dbfile

import (
	"path/filepath"
	"syscall"
	"testing"
)

// sharedIf returns the kind of a file's file system for the system's number of it.
func sharedIf(file string, number int64) (string, error) {
	defer func(was func(string, *syscall.Statfs_t) error) { statfs = was }(statfs)
	statfs = func(path string, stat *syscall.Statfs_t) error {
		err := syscall.Statfs(path, stat)
		stat.Type = number
		return err
	}
	return SharedSystem(file)
}

// TestSharedFileSystem tells what other machines may have, whether the file is there
// or not. It is not parallel, as it answers for the system.
func TestSharedFileSystem(t *testing.T) { //nolint:paralleltest // see above
	file := filepath.Join(t.TempDir(), "runs.db")
	for number, want := range map[int64]string{0x6969: "NFS", 0xff534d42: "CIFS", 0xef53: "", 0x01021994: ""} {
		if got, err := sharedIf(file, number); got != want || err != nil {
			t.Errorf("%#x is %q (%v), want %q", number, got, err, want)
		}
	}
}
