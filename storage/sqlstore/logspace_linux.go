package sqlstore

import (
	"encoding/binary"
	"io"
	"os"
	"syscall"
)

const (
	logHead   = 32            // size in bytes of the header of the WAL
	frameSize = 24 + pageSize // size in bytes of a frame: its header and a page
	// spaceFrames is the number of frames by which logSpace extends the WAL each time: 0.5 MiB. logSpace starts
	// when the WAL has this many frames, so a run of ten steps stays below. The next commit syncs the added space,
	// so a larger number would delay that commit.
	spaceFrames = 128
	// spaceUpTo is about the number of frames at which the WAL starts over and needs no more space.
	spaceUpTo = checkpointPages + checkpointRest
	// spaceSpare is how many bytes of the disk must be free, because the database also needs space.
	spaceSpare = 64 << 20
)

// A logSpace extends the file of the WAL ahead of the commits. A commit that extends the file waits about twice as
// long for the disk, because the file system then commits a change of its own. Therefore, when frames reach the end
// of the file, logSpace writes zeros behind them, and the next commit syncs the zeros with its frames.
//
// For SQLite the WAL ends at the first frame with a wrong checksum, so it ignores zeros behind the last frame.
// fallocate would not help: it leaves blocks marked as unwritten, and the first write to each block is again such a
// change.
type logSpace struct {
	file *os.File
	size int64 // size of the file when it was last checked
}

// openLogSpace opens the WAL of a database, which must exist.
func openLogSpace(file string) (*logSpace, error) {
	f, err := os.OpenFile(file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &logSpace{file: f}, nil
}

// extend extends the file if frames reach its end. The caller must hold SQLite's lock for writing: otherwise the
// zeros could overwrite frames of another process.
func (r *logSpace) extend() {
	if r == nil { // a store on a server has no WAL file
		return
	}
	size, err := r.file.Seek(0, io.SeekEnd)
	if err != nil || size == r.size {
		return
	}
	r.size = size
	frames := (size - logHead) / frameSize
	if frames < spaceFrames || frames >= spaceUpTo || !r.full() || !r.spare() {
		return
	}
	if r.write(spaceFrames*frameSize) != nil {
		_ = r.file.Truncate(size)
		r.size = size
	}
}

// full reports whether a frame ends at the end of the file. Another process may also have extended the file.
func (r *logSpace) full() bool {
	var page [4]byte // page number of the frame, which is never zero
	_, err := r.file.ReadAt(page[:], r.size-frameSize)
	return err == nil && binary.BigEndian.Uint32(page[:]) != 0
}

// spare reports whether the disk has much more free space than the WAL needs.
func (r *logSpace) spare() bool {
	var disk syscall.Statfs_t
	err := syscall.Fstatfs(int(r.file.Fd()), &disk)
	return err == nil && int64(disk.Bavail)*int64(disk.Bsize) >= spaceSpare //nolint:unconvert // their types vary
}

var zeros [64 << 10]byte

// write appends n zeros.
func (r *logSpace) write(n int64) error {
	for n > 0 {
		wrote, err := r.file.WriteAt(zeros[:min(n, int64(len(zeros)))], r.size)
		if err != nil {
			return err
		}
		n, r.size = n-int64(wrote), r.size+int64(wrote)
	}
	return nil
}

func (r *logSpace) close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}
