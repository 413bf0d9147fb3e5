package filelock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Holders returns the processes that hold a lock on a file. If locks are on ranges of bytes, it returns those whose
// range has the byte at. The system does not name processes of other containers. For a file that does not exist,
// Holders returns none.
func Holders(path string, at int64) ([]Holder, error) {
	file, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	is, known := file.Sys().(*syscall.Stat_t)
	text, err := os.ReadFile("/proc/locks")
	if err != nil || !known {
		return nil, err
	}
	inode := ":" + strconv.FormatUint(is.Ino, 10)
	var all []Holder
	for line := range strings.Lines(string(text)) { // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:9978418 0 EOF
		f := strings.Fields(line)
		// -> marks a waiting process
		if len(f) < 8 || f[1] == "->" || !strings.HasSuffix(f[5], inode) || !covers(f[6], f[7], at) {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		if err == nil && pid > 0 && !slices.ContainsFunc(all, func(h Holder) bool { return h.PID == pid }) &&
			opened(pid, file) {
			all = append(all, *Process(pid))
		}
	}
	return all, nil
}

// covers reports whether a range of bytes contains a byte. The last byte of the range may be EOF.
func covers(first, last string, at int64) bool {
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil || from > at {
		return false
	}
	to, err := strconv.ParseInt(last, 10, 64)
	return err != nil || at <= to
}

// opened reports whether a process has a file open. It also returns true if it cannot know. /proc/locks only has the
// number of the file, which files on other file systems may share.
func opened(pid int, file fs.FileInfo) bool {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		target, err := os.Stat(dir + e.Name())
		return err == nil && os.SameFile(target, file)
	})
}

// Process returns the system's description of a process.
func Process(pid int) *Holder {
	h := &Holder{PID: pid}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // 4711 (ebb) T 1 …
	if err != nil {
		return h
	}
	name, rest, found := bytes.Cut(text, []byte("("))
	end := bytes.LastIndexByte(rest, ')') // the name may contain one
	if !found || len(name) == 0 || end < 0 || len(rest) < end+3 {
		return h
	}
	h.Command, h.State = string(rest[:end]), string(rest[end+2])
	return h
}
