package crashdisk

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The VFS wraps the previous default VFS. Each of its files is a file of that VFS with a handle before it. It passes
// all other calls through.

// shim is the head of each file. The file of the VFS below follows it.
type shim struct {
	methods uintptr
	handle  uintptr // index in handles; 0 is not watched
}

const shimSize = unsafe.Sizeof(shim{})

var (
	below   uintptr // the VFS below
	ourName = append([]byte("crashdisk"), 0)
	ours    sqlite3.Tsqlite3_vfs
	table   sqlite3.Tsqlite3_io_methods

	handles    sync.Map // of *open, by handle
	lastHandle atomic.Uintptr
)

// register makes the shim the default VFS of the process.
var register = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	if rc := sqlite3.Xsqlite3_initialize(tls); rc != sqlite3.SQLITE_OK {
		panic("crashdisk: SQLite cannot be initialized")
	}
	below = sqlite3.Xsqlite3_vfs_find(tls, 0)
	ours = *at[sqlite3.Tsqlite3_vfs](below)
	ours.FszOsFile += int32(shimSize)
	ours.FpNext = 0
	ours.FzName = address(&ourName[0])
	ours.FxOpen = pointer(vfsOpen)
	ours.FxDelete = pointer(vfsDelete)
	table = sqlite3.Tsqlite3_io_methods{
		FiVersion: 3,
		FxClose:   pointer(fileClose), FxRead: pointer(fileRead), FxWrite: pointer(fileWrite),
		FxTruncate: pointer(fileTruncate), FxSync: pointer(fileSync), FxFileSize: pointer(fileSize),
		FxLock: pointer(fileLock), FxUnlock: pointer(fileUnlock), FxCheckReservedLock: pointer(fileCheckReservedLock),
		FxFileControl: pointer(fileControl), FxSectorSize: pointer(fileSectorSize),
		FxDeviceCharacteristics: pointer(fileDeviceCharacteristics),
		FxShmMap:                pointer(fileShmMap), FxShmLock: pointer(fileShmLock),
		FxShmBarrier: pointer(fileShmBarrier), FxShmUnmap: pointer(fileShmUnmap),
		FxFetch: pointer(fileFetch), FxUnfetch: pointer(fileUnfetch),
	}
	if rc := sqlite3.Xsqlite3_vfs_register(tls, address(&ours), 1); rc != sqlite3.SQLITE_OK {
		panic("crashdisk: the VFS cannot be registered")
	}
})

// Watch watches the folder until the test ends. It covers the databases that this process opens in the folder from now
// on.
func Watch(tb testing.TB, dir string) *Disk {
	tb.Helper()
	register()
	d, err := watch(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.unwatch)
	return d
}

// convert takes the bits of one type for those of another of the same size: C
// passes addresses, of records and of functions, as numbers.
//
//nolint:gosec // there is no other way to write a VFS
func convert[To, From any](from From) To { return *(*To)(unsafe.Pointer(&from)) }

// Careless returns a temporary folder on which syncs cost nothing, for tests that sync often and test something else.
// It has no images.
func Careless(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	Watch(tb, dir).careless = true
	return dir
}

// at returns the value at an address of C.
func at[T any](p uintptr) *T { return convert[*T](p) }

// address returns the address of a variable for C. The variable must be global.
func address[T any](p *T) uintptr { return convert[uintptr](p) }

// pointer returns the address under which C calls a function declared at the top of a package. function is the inverse.
// Both rely on the fact that a value of function type is a pointer to the code's address.
func pointer[F any](f F) uintptr { return convert[uintptr](f) }

func function[F any](p uintptr) F { return convert[F](p) }

// bytesAt returns n bytes at an address of C.
func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) } //nolint:gosec // as above

// inside returns the file of the VFS below, and its methods.
func inside(file uintptr) (uintptr, *sqlite3.Tsqlite3_io_methods) {
	inner := file + shimSize
	return inner, at[sqlite3.Tsqlite3_io_methods](*at[uintptr](inner))
}

// watched returns the record of a file, or nil if it is not watched.
func watched(file uintptr) *open {
	if h := at[shim](file).handle; h != 0 {
		if f, ok := handles.Load(h); ok {
			f, _ := f.(*open)
			return f
		}
	}
	return nil
}

func vfsOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	*at[shim](file) = shim{}
	var f *open
	if name != 0 {
		f = openFile(libc.GoString(name), flags)
	}
	if f != nil {
		if code := f.before(Open); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	inner := file + shimSize
	rc := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](
		below).FxOpen)(
		tls, below, name, inner, flags, out)
	if *at[uintptr](inner) == 0 {
		return rc
	}
	at[shim](file).methods = address(&table)
	if f != nil && rc == sqlite3.SQLITE_OK {
		f.opened()
		h := lastHandle.Add(1)
		handles.Store(h, f)
		at[shim](file).handle = h
	}
	return rc
}

func vfsDelete(tls *libc.TLS, _, name uintptr, syncFolder int32) int32 {
	path := libc.GoString(name)
	if code := beforeDelete(path); code != sqlite3.SQLITE_OK {
		return code
	}
	rc := function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](below).FxDelete)(tls, below,
		name, syncFolder)
	if rc == sqlite3.SQLITE_OK {
		deleted(path, syncFolder != 0)
	}
	return rc
}

func fileClose(tls *libc.TLS, file uintptr) int32 {
	if h := at[shim](file).handle; h != 0 {
		handles.Delete(h)
	}
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, inner)
}

func fileRead(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	if f := watched(file); f != nil {
		if code := f.before(Read); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxRead)(tls, inner, buf, n, offset)
}

func fileWrite(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	inner, m := inside(file)
	write := function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)
	f := watched(file)
	if f == nil {
		return write(tls, inner, buf, n, offset)
	}
	code, short := f.beforeWrite(n)
	if code != sqlite3.SQLITE_OK {
		n = short
	}
	if n > 0 {
		if rc := write(tls, inner, buf, n, offset); rc != sqlite3.SQLITE_OK {
			return rc
		}
		f.wrote(bytesAt(buf, n), offset)
	}
	return code
}

func fileTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	inner, m := inside(file)
	truncate := function[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)
	f := watched(file)
	if f == nil {
		return truncate(tls, inner, size)
	}
	if code := f.before(Truncate); code != sqlite3.SQLITE_OK {
		return code
	}
	rc := truncate(tls, inner, size)
	if rc == sqlite3.SQLITE_OK {
		f.truncated(size)
	}
	return rc
}

func fileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if f := watched(file); f != nil {
		return f.sync()
	}
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, inner, flags)
}

func fileLock(tls *libc.TLS, file uintptr, level int32) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxLock)(tls, inner, level)
}

func fileShmLock(tls *libc.TLS, file uintptr, offset, n, flags int32) int32 {
	const writer, toWrite = 0, sqlite3.SQLITE_SHM_LOCK | sqlite3.SQLITE_SHM_EXCLUSIVE
	if f := watched(file); f != nil && offset == writer && flags == toWrite {
		if code := f.before(Lock); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](m.FxShmLock)(tls, inner, offset, n, flags)
}

func fileUnlock(tls *libc.TLS, file uintptr, level int32) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxUnlock)(tls, inner, level)
}

func fileSize(tls *libc.TLS, file, out uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)(tls, inner, out)
}

func fileCheckReservedLock(tls *libc.TLS, file, out uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, uintptr) int32](m.FxCheckReservedLock)(tls, inner, out)
}

func fileControl(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(tls, inner, op, arg)
}

func fileSectorSize(tls *libc.TLS, file uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr) int32](m.FxSectorSize)(tls, inner)
}

func fileDeviceCharacteristics(tls *libc.TLS, file uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr) int32](m.FxDeviceCharacteristics)(tls, inner)
}

func fileShmMap(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](m.FxShmMap)(tls, inner, region, size,
		extend, out)
}

func fileShmBarrier(tls *libc.TLS, file uintptr) {
	inner, m := inside(file)
	function[func(*libc.TLS, uintptr)](m.FxShmBarrier)(tls, inner)
}

func fileShmUnmap(tls *libc.TLS, file uintptr, remove int32) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxShmUnmap)(tls, inner, remove)
}

func fileFetch(tls *libc.TLS, file uintptr, offset int64, n int32, out uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int64, int32, uintptr) int32](m.FxFetch)(tls, inner, offset, n, out)
}

func fileUnfetch(tls *libc.TLS, file uintptr, offset int64, page uintptr) int32 {
	inner, m := inside(file)
	return function[func(*libc.TLS, uintptr, int64, uintptr) int32](m.FxUnfetch)(tls, inner, offset, page)
}
