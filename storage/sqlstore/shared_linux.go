package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// sharedSystems are the file systems of which another machine may have the same
// files, by the numbers of statfs(2): locks and shared memory, on which SQLite in WAL
// mode rests, do not reach there.
var sharedSystems = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9P", 0x00c36400: "Ceph", 0x5346414f: "AFS", 0x6b414653: "AFS",
	0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS", 0x7461636f: "OCFS2", 0x01161970: "GFS2",
}

// statfs asks for the file system of a path; tests let it answer otherwise.
var statfs = syscall.Statfs

// sharedFileSystem returns the kind of file system that a file is on, or is to be,
// when others may have it too; else "".
func sharedFileSystem(file string) (string, error) {
	var stat syscall.Statfs_t
	err := statfs(file, &stat)
	if errors.Is(err, fs.ErrNotExist) {
		err = statfs(filepath.Dir(file), &stat)
	}
	if err != nil {
		return "", fmt.Errorf("sqlstore: ask for the file system of %s: %w", file, err)
	}
	return sharedSystems[uint32(stat.Type)], nil
}
