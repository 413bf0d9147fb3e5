package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/regularfile"
)

// A Bucket holds objects under keys, as Amazon S3 does. The readers and writers of
// distributed Maps access nothing else.
type Bucket interface {
	// Open opens an object. An error that wraps [fs.ErrNotExist] says that there is
	// none.
	Open(key string) (io.ReadSeekCloser, error)
	// List returns up to n objects whose keys begin with prefix and sort after the key
	// after, in the order of the bytes of their keys.
	List(prefix, after string, n int) ([]Object, error)
	// Write writes the text at an offset and cuts the object off behind it. It creates the object if it does not exist.
	// The text survives a crash of the machine once Write has returned.
	Write(key string, offset int64, text string) error
}

// An Object is one object of a listing.
type Object struct {
	Key      string    // name in the bucket
	Size     int64     // in bytes
	Modified time.Time // when it was last written
}

// Folder returns the bucket whose objects are the files of a folder, with slashes
// in keys for folders inside it. No key leads out of the folder, neither by .. nor by a
// symbolic link. Only the user of this process may read the files and folders that the bucket creates.
func Folder(dir string) Bucket { return folder{dir: dir} }

// SharedFolder is Folder with other modes: new files and folders have the folder's mode, with any umask. So every user
// of the folder may use them in the same way.
func SharedFolder(dir string) Bucket { return folder{dir, true} }

type folder struct {
	dir    string
	shared bool
}

// modes returns the modes of new files and folders.
func (f folder) modes(root *os.Root) (file, dir fs.FileMode, err error) {
	if !f.shared {
		return 0o600, 0o700, nil
	}
	info, err := root.Stat(".")
	if err != nil {
		return 0, 0, err
	}
	return info.Mode() & 0o666, info.Mode() & (fs.ModePerm | fs.ModeSetgid), nil
}

// makeAll creates the missing folders of a name.
func makeAll(root *os.Root, name string, mode fs.FileMode) error {
	if name == "." {
		return nil
	}
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(name); parent != name { // that of / is /, which Mkdir refuses
		if err := makeAll(root, parent, mode); err != nil {
			return err
		}
	}
	err := root.Mkdir(name, mode.Perm())
	switch {
	case errors.Is(err, fs.ErrExist): // created by another process; or not a folder, which opening the file reports
		return nil
	case err != nil:
		return err
	}
	return root.Chmod(name, mode) // with any umask
}

func (f folder) Open(key string) (io.ReadSeekCloser, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return regularfile.Open(root, filepath.FromSlash(key), os.O_RDONLY, 0)
}

func (f folder) Write(key string, offset int64, text string) (err error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	name := filepath.FromSlash(key)
	fileMode, dirMode, err := f.modes(root)
	if err != nil {
		return err
	}
	if err := makeAll(root, filepath.Dir(name), dirMode); err != nil {
		return err
	}
	file, err := regularfile.Open(root, name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	switch {
	case err == nil:
		if err = file.Chmod(fileMode); err != nil { // with any umask
			err = errors.Join(err, file.Close())
		}
	case errors.Is(err, fs.ErrExist):
		file, err = regularfile.Open(root, name, os.O_RDWR, 0)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < offset {
		return fmt.Errorf("%s has %d bytes; %d were written to it before", key, info.Size(), offset)
	}
	if err := file.Truncate(offset); err != nil {
		return err
	}
	if _, err := file.WriteAt([]byte(text), offset); err != nil {
		return err
	}
	return file.Sync()
}

func (f folder) List(prefix, after string, n int) ([]Object, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	l := listing{files: root.FS(), prefix: prefix, after: after, most: n}
	if err := l.add("."); err != nil {
		return nil, err
	}
	return l.found, nil
}

// A listing lists the objects of a folder.
type listing struct {
	files         fs.FS
	prefix, after string
	most          int
	found         []Object
}

// add adds the objects in one folder, and in those inside it.
func (l *listing) add(dir string) error {
	entries, err := fs.ReadDir(l.files, dir)
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	keys := make([]string, 0, len(entries)) // as they are ordered
	for _, e := range entries {
		key := path.Join(dir, e.Name())
		if !fs.ValidPath(key) {
			continue // not in UTF-8, which cannot be a key
		}
		if e.IsDir() {
			key += "/"
			folders[key] = true
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, name := range keys {
		if len(l.found) == l.most {
			return nil
		}
		switch {
		case folders[name]:
			begins := strings.HasPrefix(name, l.prefix) || strings.HasPrefix(l.prefix, name)
			behind := name > l.after || strings.HasPrefix(l.after, name)
			if begins && behind {
				if err := l.add(strings.TrimSuffix(name, "/")); err != nil {
					return err
				}
			}
		case strings.HasPrefix(name, l.prefix) && name > l.after:
			info, err := fs.Stat(l.files, name)
			if err != nil || !info.Mode().IsRegular() {
				continue // it leads out of the folder, or no longer exists
			}
			l.found = append(l.found, Object{Key: name, Size: info.Size(), Modified: info.ModTime()})
		}
	}
	return nil
}

// bucket returns the bucket of a name.
func (r *Registry) bucket(name string) (Bucket, error) {
	if b := r.buckets[name]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("no folder is named for the bucket %q (ebb run has --bucket %s=DIR for it)", name,
		cmp.Or(name, "NAME"))
}
