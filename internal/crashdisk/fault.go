package crashdisk

import sqlite3 "modernc.org/sqlite/lib"

// A Fault describes how an operation fails.
type Fault struct {
	Kind Kind
	File File // "" is any file
	Nth  int  // first operation that fails, counted from now; 0 is 1
	For  int  // number of operations that fail; 0 is 1, -1 all until [Disk.Heal]

	// Code is SQLite's code, such as SQLITE_IOERR_WRITE, SQLITE_FULL or SQLITE_BUSY. 0 is the I/O error of that kind.
	Code int
	// Short is the number of bytes that a write writes before it fails.
	Short int
	// Lose makes a failing sync lose its data. The data can be read, and later syncs succeed, but it never reaches the
	// disk. Linux does this after an I/O error.
	Lose bool
}

type injected struct {
	Fault

	seen, hits int
}

// losing stands for the code of a sync that loses its data.
const losing = -1

// Inject makes operations fail. It returns a function that reports how many have failed.
func (d *Disk) Inject(f Fault) (hits func() int) {
	f.Nth = max(f.Nth, 1)
	if f.For == 0 {
		f.For = 1
	}
	if f.Code == 0 {
		f.Code = map[Kind]int{
			Open: sqlite3.SQLITE_CANTOPEN, Read: sqlite3.SQLITE_IOERR_READ, Write: sqlite3.SQLITE_IOERR_WRITE,
			Truncate: sqlite3.SQLITE_IOERR_TRUNCATE, Sync: sqlite3.SQLITE_IOERR_FSYNC, Lock: sqlite3.SQLITE_IOERR_LOCK,
			Delete: sqlite3.SQLITE_IOERR_DELETE,
		}[f.Kind]
	}
	one := &injected{Fault: f}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, one)
	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return one.hits
	}
}

// Heal ends all faults.
func (d *Disk) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

// fault returns the code with which an operation fails, and how many bytes of a write are written.
func (d *Disk) fault(op Op, size int32) (code, short int32) {
	for _, f := range d.faults {
		if f.Kind != op.Kind || f.File != "" && f.File != op.File {
			continue
		}
		f.seen++
		if f.seen < f.Nth || f.For > 0 && f.seen >= f.Nth+f.For || code != sqlite3.SQLITE_OK {
			continue
		}
		f.hits++
		code, short = int32(f.Code), min(int32(f.Short), size)
		if f.Lose {
			code = losing
		}
	}
	return code, short
}
