package lambda

import (
	"encoding/binary"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	// maxWatched is the number of files of a function that are watched.
	//
	//limit:lambda files and folders of a function whose changes are seen | {} | changes of others are not
	maxWatched = 20_000
	// watchPause is the time between two looks at the files of a function.
	//
	//limit:lambda time until changed code is seen | {}
	watchPause = time.Second
)

// A codeStamp tells when the code of a function has changed.
type codeStamp struct {
	mu   sync.Mutex
	at   time.Time // when the files were looked at
	last uint64
}

// of returns a number for the state of a function's files: their names, sizes and times.
func (c *codeStamp) of(f *Function) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) < watchPause {
		return c.last
	}
	sum, left := fnv.New64a(), maxWatched
	for _, folder := range append([]string{f.Code}, f.Layers...) {
		if folder == "" {
			continue
		}
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if left--; left < 0 {
				return filepath.SkipAll
			}
			if d == nil || err != nil {
				return nil //nolint:nilerr // what cannot be read does not change
			}
			if d.IsDir() {
				if slices.Contains([]string{".git", "__pycache__"}, d.Name()) {
					return filepath.SkipDir
				}
				return nil
			}
			if info, err := d.Info(); err == nil {
				var numbers [16]byte
				binary.LittleEndian.PutUint64(numbers[:8], uint64(info.Size()))
				binary.LittleEndian.PutUint64(numbers[8:], uint64(info.ModTime().UnixNano()))
				_, _ = sum.Write([]byte(path)) // never fails
				_, _ = sum.Write(numbers[:])
			}
			return nil
		})
	}
	c.at, c.last = time.Now(), sum.Sum64()
	return c.last
}
