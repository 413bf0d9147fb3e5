package crashdisk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	sqlite3 "modernc.org/sqlite/lib"
)

// A Disk is a watched folder.
type Disk struct {
	dir      string
	careless bool // skips syncs and keeps nothing

	telling sync.Mutex // held while onOp is called; before mu

	mu     sync.Mutex
	names  map[string]*name // by base name
	count  map[Op]int
	onOp   func(Op)
	faults []*injected
}

// A name is a name in the folder, with the file that it names now, and the one that it names on the disk.
type name struct {
	now, disk *content // nil: none
}

// content is the content of a file.
type content struct {
	now     []byte   // as every reader sees it
	synced  []byte   // the content that is certainly on the disk
	pending []change // changes from durable to current, in order, without those that a failed sync lost
}

// A change is a write, or without data a truncation.
type change struct {
	offset int64
	data   []byte
}

// An Op is an operation on a file.
type Op struct {
	Kind Kind
	File File
}

// Kind is the kind of an operation.
type Kind string

// The kinds of operations.
const (
	Open     Kind = "open"
	Read     Kind = "read"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
	Lock     Kind = "lock" // of a database in WAL mode, by the connection that will write
	Delete   Kind = "delete"
)

// File is the role of a file of a database.
type File string

// The roles of files.
const (
	DB      File = "db"
	WAL     File = "wal"
	Journal File = "journal" // of a database that is not, or not yet, in WAL mode
)

var (
	watching sync.RWMutex
	disks    = map[string]*Disk{} // by folder
)

func watch(dir string) (*Disk, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("crashdisk: %w", err)
	}
	watching.Lock()
	defer watching.Unlock()
	if disks[dir] != nil {
		return nil, fmt.Errorf("crashdisk: %s is watched already", dir)
	}
	d := &Disk{dir: dir, names: map[string]*name{}, count: map[Op]int{}}
	disks[dir] = d
	return d, nil
}

func (d *Disk) unwatch() {
	watching.Lock()
	defer watching.Unlock()
	delete(disks, d.dir)
}

// OnOp makes the disk call f before each operation on a watched file, in the goroutine of the operation, one at a time.
// f may take an [Image]. It must not use a database of the folder. A nil f ends the calls.
func (d *Disk) OnOp(f func(Op)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onOp = f
}

// Count returns the number of operations of that kind on that file.
func (d *Disk) Count(kind Kind, file File) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count[Op{kind, file}]
}

// An open is an open file.
type open struct {
	disk *Disk
	base string
	kind File
}

// openFile returns the file at that path if it is watched, and does not open it.
func openFile(path string, flags int32) *open {
	kind := DB
	switch {
	case flags&sqlite3.SQLITE_OPEN_WAL != 0:
		kind = WAL
	case flags&sqlite3.SQLITE_OPEN_MAIN_JOURNAL != 0:
		kind = Journal
	case flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0:
		return nil
	}
	d := diskOf(path)
	if d == nil {
		return nil
	}
	f := &open{disk: d, base: filepath.Base(path), kind: kind}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[f.base] == nil {
		n := &name{}
		if text, err := os.ReadFile(path); err == nil && !d.careless { // existed before Watch
			n.now = &content{now: text, synced: append([]byte(nil), text...)}
			n.disk = n.now
		}
		d.names[f.base] = n
	}
	return f
}

func diskOf(path string) *Disk {
	watching.RLock()
	defer watching.RUnlock()
	return disks[filepath.Dir(path)]
}

// before reports an operation, and returns the code with which it must fail.
func (f *open) before(kind Kind) int32 {
	code, _ := f.disk.before(Op{kind, f.kind}, 0)
	return code
}

// beforeWrite is before for a write. It also returns how many bytes to write nevertheless.
func (f *open) beforeWrite(n int32) (code, short int32) { return f.disk.before(Op{Write, f.kind}, n) }

func (d *Disk) before(op Op, size int32) (code, short int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count[op]++
	if f := d.onOp; f != nil {
		d.mu.Unlock()
		d.telling.Lock()
		f(op)
		d.telling.Unlock()
		d.mu.Lock()
	}
	return d.fault(op, size)
}

// opened records that a file exists.
func (f *open) opened() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if n := f.disk.names[f.base]; n.now == nil {
		n.now = &content{}
	}
}

func (f *open) wrote(data []byte, offset int64) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	c := f.disk.names[f.base].now
	if f.disk.careless {
		return
	}
	one := change{offset, append([]byte(nil), data...)}
	c.now = one.apply(c.now)
	c.pending = append(c.pending, one)
}

func (f *open) truncated(size int64) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	c := f.disk.names[f.base].now
	if f.disk.careless {
		return
	}
	one := change{offset: size}
	c.now = one.apply(c.now)
	c.pending = append(c.pending, one)
}

// sync makes the file and its name durable.
func (f *open) sync() int32 {
	code, _ := f.disk.before(Op{Sync, f.kind}, 0)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n := f.disk.names[f.base]
	switch code {
	case sqlite3.SQLITE_OK:
		for i := range n.now.pending {
			n.now.synced = n.now.pending[i].apply(n.now.synced)
		}
		n.now.pending = nil
		if n.disk != n.now && f.kind != DB { // SQLite syncs the folder, too
			for _, other := range f.disk.names {
				other.disk = other.now
			}
		}
		n.disk = n.now
	case losing:
		n.now.pending = nil // never durable
		code = sqlite3.SQLITE_IOERR_FSYNC
	}
	return code
}

func beforeDelete(path string) int32 {
	d := diskOf(path)
	if d == nil {
		return sqlite3.SQLITE_OK
	}
	code, _ := d.before(Op{Delete, fileOf(path)}, 0)
	return code
}

// fileOf returns the role of a file by its name.
func fileOf(path string) File {
	switch {
	case strings.HasSuffix(path, "-wal"):
		return WAL
	case strings.HasSuffix(path, "-journal"):
		return Journal
	default:
		return DB
	}
}

func deleted(path string, synced bool) {
	d := diskOf(path)
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[filepath.Base(path)]
	if n == nil {
		return
	}
	n.now = nil
	if synced {
		n.disk = nil
	}
}

// apply returns the content after the change. It may reuse to.
func (c *change) apply(to []byte) []byte {
	if c.data == nil {
		return resize(to, c.offset)
	}
	if end := c.offset + int64(len(c.data)); end > int64(len(to)) {
		to = resize(to, end)
	}
	copy(to[c.offset:], c.data)
	return to
}

func resize(to []byte, size int64) []byte {
	if size <= int64(len(to)) {
		return to[:size]
	}
	return append(to, make([]byte, size-int64(len(to)))...)
}
