package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// sharedSystems lists, by their numbers in statfs(2), the file systems that several machines may mount. Locks and
// shared memory, which SQLite needs in WAL mode, do not work between machines.
var sharedSystems = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9P", 0x00c36400: "Ceph",
	0x5346414f: "AFS", 0x6b414653: "AFS",
	0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS", 0x7461636f: "OCFS2", 0x01161970: "GFS2",
}

// statfs reads the file system of a path; tests replace it.
var statfs = syscall.Statfs

// SharedSystem returns the kind of the file system of a file, which need not exist, if other machines may mount it;
// otherwise "".
func SharedSystem(file string) (string, error) {
	var stat syscall.Statfs_t
	err := statfs(file, &stat)
	if errors.Is(err, fs.ErrNotExist) {
		err = statfs(filepath.Dir(file), &stat)
	}
	if err != nil {
		return "", fmt.Errorf("sqlstore: read the file system of %s: %w", file, err)
	}
	if uint32(stat.Type) == fuse {
		return sharedProgram(filepath.Dir(file))
	}
	return sharedSystems[uint32(stat.Type)], nil
}

// fuse is the number of all file systems that programs provide, local or remote.
const fuse = 0x65735546

// sharedPrograms lists the programs, as mounts name them, that provide files of other machines.
var sharedPrograms = []string{
	"virtiofs", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.juicefs", "fuse.mfs", "fuse.lizardfs",
	"fuse.seaweedfs", "fuse.rclone",
	"fuse.s3fs", "fuse.goofys", "fuse.mount-s3", "fuse.gcsfuse", "fuse.blobfuse2", "fuse.davfs", "fuse.curlftpfs",
	"fuse.smbnetfs", "fuse.grpcfuse",
}

// sharedProgram returns the program that provides a folder if the folder is another machine's.
func sharedProgram(dir string) (string, error) {
	var stat syscall.Stat_t
	if err := syscall.Stat(dir, &stat); err != nil {
		return "", fmt.Errorf("sqlstore: read the file system of %s: %w", dir, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("sqlstore: read the file system of %s: %w", dir, err)
	}
	// major and minor number as in glibc
	device := fmt.Sprintf(" %d:%d ", stat.Dev>>8&0xfff|stat.Dev>>32&^0xfff, stat.Dev&0xff|stat.Dev>>12&^0xff)
	for line := range strings.Lines(string(mounts)) { // such as: 36 35 98:0 /root /mnt rw - fuse.sshfs host: rw
		before, after, _ := strings.Cut(line, " - ")
		kind, _, _ := strings.Cut(after, " ")
		if strings.Contains(before, device) && slices.Contains(sharedPrograms, kind) {
			return strings.TrimPrefix(kind, "fuse."), nil
		}
	}
	return "", nil
}
