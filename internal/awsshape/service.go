package awsshape

import (
	"archive/zip"
	"bytes"
	_ "embed" // the shapes
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
)

//go:embed answers.zip
var archive []byte

// maxService bounds the length of a service's text.
const maxService = 4 << 20

// A service holds the lines of a service's operations and shapes. They are parsed when they are used.
type service struct {
	mu     sync.Mutex
	lines  map[string]string // by the name of an operation, or of a shape with @
	shapes map[string]*shape
}

var (
	servicesMu sync.Mutex
	services   = map[string]*service{}
)

// serviceOf returns a service by its [ServiceKey], or nil for an unknown one.
func serviceOf(key string) *service {
	servicesMu.Lock()
	defer servicesMu.Unlock()
	if s, ok := services[key]; ok {
		return s
	}
	lines := linesOf(key)
	if lines == nil {
		return nil
	}
	s := &service{lines: lines, shapes: map[string]*shape{}}
	services[key] = s
	return s
}

func linesOf(key string) map[string]string {
	text := textOf(archive, key)
	if text == "" {
		return nil
	}
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		if name, shape, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			lines[name] = shape
		}
	}
	return lines
}

// textOf returns a file of an archive, or "".
func textOf(archive []byte, name string) string {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return ""
	}
	f, err := z.Open(name)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxService))
	if err != nil {
		return ""
	}
	return string(text)
}

// filesOf returns the names of the files in an archive, in order.
func filesOf(archive []byte) []string {
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

// shape returns the shape in the line of that name, or nil.
func (s *service) shape(name string) *shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if read, ok := s.shapes[name]; ok {
		return read
	}
	line, ok := s.lines[name]
	if !ok {
		return nil
	}
	r := reader{line}
	read := r.shape()
	s.shapes[name] = read
	return read
}

// A reader reads a shape from a line.
type reader struct{ text string }

// until returns the text before the next of some characters, and does not read that character.
func (r *reader) until(ends string) (before string) {
	i := strings.IndexAny(r.text, ends)
	if i < 0 {
		i = len(r.text)
	}
	before, r.text = r.text[:i], r.text[i:]
	return before
}

func (r *reader) take(prefix string) (taken bool) {
	r.text, taken = strings.CutPrefix(r.text, prefix)
	return taken
}

func (r *reader) shape() *shape {
	s := &shape{kind: r.text[0]}
	r.text = r.text[1:]
	if s.kind != '@' && r.take("#") {
		s.least = json.Number(r.until(":"))
		r.take(":")
		s.most = json.Number(r.until("#"))
		r.take("#")
	}
	switch s.kind {
	case '@':
		s.name = r.until("!,]>}")
	case 's':
		if r.take("(") {
			s.words = strings.Split(r.until(")"), "|")
			r.take(")")
		}
	case '[', '<':
		s.of = r.shape()
		r.text = r.text[1:]
	case '{':
		for !r.take("}") {
			r.take(",")
			f := field{name: r.until(":")}
			r.take(":")
			f.shape = r.shape()
			f.required = r.take("!")
			s.fields = append(s.fields, f)
		}
	}
	return s
}
