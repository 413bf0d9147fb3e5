package awscall

import (
	"archive/zip"
	"bytes"
	_ "embed" // the services
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed services.zip
var archive []byte

// maxService bounds the length of a service's text.
const maxService = 4 << 20

// protocols are those that the package supports.
var protocols = []string{"json", "query"}

// A service holds the lines of a service's operations and shapes. They are parsed when they are used.
type service struct {
	protocol    string
	jsonVersion string
	target      string // prefix of X-Amz-Target
	signing     string // name in signatures
	version     string // of the API
	id          string // name in errors of SDK integrations

	lines  map[string]string // by the name of an operation, or of a shape with @, or of an error with !
	mu     sync.Mutex
	shapes map[string]*shape
}

// A shape describes the form of a value.
type shape struct {
	kind      byte // see the comment of the package
	of        *shape
	fields    []field
	name      string // of another shape, if kind is '@'
	flattened bool
	key, item string // names of keys and elements in the query protocol; "" means the usual ones
}

// A field is a member of an object.
type field struct {
	name  string // in the model
	sdk   string // in SDK integrations
	wire  string // in the query protocol
	shape *shape
}

// written returns the name of the field in an integration.
func (f *field) written(sdk bool) string {
	if sdk {
		return f.sdk
	}
	return upperFirst(f.name)
}

func upperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

var (
	servicesMu sync.Mutex
	services   = map[string]*service{}
)

// serviceOf returns a service by its name in the ARNs of SDK integrations, or nil.
func serviceOf(key string) *service {
	servicesMu.Lock()
	defer servicesMu.Unlock()
	if s, ok := services[key]; ok {
		return s
	}
	s := read(key)
	if s != nil {
		services[key] = s
	}
	return s
}

func read(key string) *service {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil
	}
	for _, f := range z.File {
		if f.Name != key {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(r, maxService))
		if err != nil {
			return nil
		}
		return parsed(string(text))
	}
	return nil
}

func parsed(text string) *service {
	first, rest, _ := strings.Cut(text, "\n")
	const words = 7
	head := append(strings.Fields(first), make([]string, words)...)
	s := &service{
		protocol: head[1], jsonVersion: head[2], target: head[3], signing: head[4], version: head[5], id: head[6],
		lines: map[string]string{}, shapes: map[string]*shape{},
	}
	for line := range strings.Lines(rest) {
		if name, is, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			s.lines[name] = is
		}
	}
	return s
}

// operation returns the shapes of an action's input and output, or nil for an unknown action.
func (s *service) operation(name string) (input, output *shape, ok bool) {
	line, ok := s.lines[name]
	if !ok || name == "" || strings.IndexByte("@!", name[0]) >= 0 {
		return nil, nil, false
	}
	in, out, _ := strings.Cut(line, " ")
	return s.shape(in), s.shape(out), true
}

// shape returns the shape in the line of that name, or nil.
func (s *service) shape(name string) *shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, ok := s.shapes[name]; ok {
		return is
	}
	line, ok := s.lines[name]
	if !ok {
		return nil
	}
	r := reader{line}
	is := r.shape()
	s.shapes[name] = is
	return is
}

// named returns the shape to which a use refers, or nil.
func (s *service) named(is *shape) *shape {
	if is != nil && is.kind == '@' {
		return s.shape("@" + is.name)
	}
	return is
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
	switch s.kind {
	case '@':
		s.name = r.until(",]>}")
	case '[', '<':
		s.flattened = r.take("~")
		if r.take("#") {
			s.item = r.until("#")
			r.take("#")
			if s.kind == '<' {
				s.key, s.item = s.item, r.until("#")
				r.take("#")
			}
		}
		s.of = r.shape()
		r.text = r.text[1:]
	case '{':
		for !r.take("}") {
			r.take(",")
			s.fields = append(s.fields, r.field())
		}
	}
	return s
}

func (r *reader) field() field {
	f := field{name: r.until("/=:")}
	f.sdk, f.wire = upperFirst(f.name), f.name
	if r.take("/") {
		f.sdk = r.until("=:")
	}
	if r.take("=") {
		f.wire = r.until(":")
	}
	r.take(":")
	f.shape = r.shape()
	return f
}
