// Package awslines reads archives of texts that describe services of AWS: a line is a name and its description, in one
// of two notations for shapes. See packages awscall and awsshape, which read the descriptions.
package awslines

import (
	"archive/zip"
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

// maxText bounds the length of a service's text.
const maxText = 4 << 20

// Text returns a file of an archive, or "".
func Text(archive []byte, name string) string {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return ""
	}
	f, err := z.Open(name)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return ""
	}
	return string(text)
}

// Files returns the names of the files in an archive, in order.
func Files(archive []byte) []string {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil
	}
	names := make([]string, len(z.File))
	for i, f := range z.File {
		names[i] = f.Name
	}
	slices.Sort(names)
	return names
}

// Lines are the lines of a service's operations and shapes, by their names. Shapes are parsed when they are used.
type Lines[Shape any] struct {
	ByName map[string]string
	parse  func(*Reader) *Shape
	mu     sync.Mutex
	shapes map[string]*Shape
}

// New returns the lines of a text, in which parse reads a shape.
func New[Shape any](text string, parse func(*Reader) *Shape) *Lines[Shape] {
	l := &Lines[Shape]{ByName: map[string]string{}, parse: parse, shapes: map[string]*Shape{}}
	for line := range strings.Lines(text) {
		if name, is, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			l.ByName[name] = is
		}
	}
	return l
}

// Shape returns the shape in the line of that name, or nil.
func (l *Lines[Shape]) Shape(name string) *Shape {
	l.mu.Lock()
	defer l.mu.Unlock()
	if is, ok := l.shapes[name]; ok {
		return is
	}
	line, ok := l.ByName[name]
	if !ok {
		return nil
	}
	l.shapes[name] = l.parse(&Reader{line})
	return l.shapes[name]
}

// A Reader reads a shape from a line.
type Reader struct{ Text string }

// Next returns the next character, and reads it.
func (r *Reader) Next() (c byte) {
	c, r.Text = r.Text[0], r.Text[1:]
	return c
}

// Until returns the text before the next of some characters, and does not read that character.
func (r *Reader) Until(ends string) (before string) {
	i := strings.IndexAny(r.Text, ends)
	if i < 0 {
		i = len(r.Text)
	}
	before, r.Text = r.Text[:i], r.Text[i:]
	return before
}

// Take reads a prefix, and reports whether it was there.
func (r *Reader) Take(prefix string) (taken bool) {
	r.Text, taken = strings.CutPrefix(r.Text, prefix)
	return taken
}

// A Cache has the services that were used, by their keys.
type Cache[Service any] struct {
	mu   sync.Mutex
	made map[string]*Service
}

// Of returns a service, which read reads once; nil if there is none.
func (c *Cache[Service]) Of(key string, read func(key string) *Service) *Service {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.made[key]; ok {
		return s
	}
	s := read(key)
	if s != nil {
		if c.made == nil {
			c.made = map[string]*Service{}
		}
		c.made[key] = s
	}
	return s
}
