package dbfile

import "syscall"

// ReadOnly reports whether the file system of a file is mounted for reading only.
func ReadOnly(file string) bool {
	const readOnly = 1 // ST_RDONLY of statfs(2)
	var stat syscall.Statfs_t
	return statfs(file, &stat) == nil && stat.Flags&readOnly != 0
}
