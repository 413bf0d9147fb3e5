package tasks

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// maxItem is the maximum size of the text of one item.
const maxItem = 1 << 20

// An objectText is the text of an object from an offset on. A compressed object is decompressed from its start, so the
// text before the offset is read, too.
type objectText struct {
	text    io.Reader
	closers []io.Closer
	left    int // bytes that may be read before the next item
}

// openText opens an object's text at an offset. "" is its start.
func (t items) openText(p *place, from string) (*objectText, int64, error) {
	offset, err := offsetOf(from)
	if err != nil {
		return nil, 0, err
	}
	b, err := t.registry.bucket(p.Bucket)
	if err != nil {
		return nil, 0, err
	}
	file, err := b.Open(p.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("the bucket %s has no object %q", p.Bucket, p.Key)
	}
	if err != nil {
		return nil, 0, err
	}
	file = stoppable{file, t.stopped}
	o := &objectText{text: file, closers: []io.Closer{file}}
	o.renew()
	if strings.HasSuffix(p.Key, ".gz") {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			return nil, 0, errors.Join(fmt.Errorf("%s: %w", p.uri(), err), o.Close())
		}
		o.text, o.closers = unpacked, append(o.closers, unpacked)
		_, err = io.CopyN(io.Discard, unpacked, offset)
		if err != nil {
			return nil, 0, errors.Join(fmt.Errorf("%s: %w", p.uri(), err), o.Close())
		}
		return o, offset, nil
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, 0, errors.Join(err, o.Close())
	}
	return o, offset, nil
}

// A stoppable is an object whose reading can be stopped, also while it is decompressed or skipped.
type stoppable struct {
	io.ReadSeekCloser

	stopped func() error
}

// Read implements [io.Reader].
func (s stoppable) Read(b []byte) (int, error) {
	if err := s.stopped(); err != nil {
		return 0, err
	}
	return s.ReadSeekCloser.Read(b)
}

func offsetOf(from string) (int64, error) {
	if from == "" {
		return 0, nil
	}
	offset, err := strconv.ParseInt(from, 10, 64)
	if err != nil || offset < 0 {
		return 0, fmt.Errorf("%q is no place to go on reading from", from)
	}
	return offset, nil
}

// renew allows reading the size of another item.
func (o *objectText) renew() { o.left = 2 * maxItem }

// Read implements [io.Reader]. It fails if an item does not end.
func (o *objectText) Read(b []byte) (int, error) {
	if o.left <= 0 {
		return 0, fmt.Errorf("an item is larger than %d bytes", maxItem)
	}
	n, err := o.text.Read(b)
	o.left -= n
	return n, err
}

// Close implements [io.Closer].
func (o *objectText) Close() error {
	var errs []error
	for _, c := range o.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
