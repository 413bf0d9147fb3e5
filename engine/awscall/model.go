package awscall

import (
	_ "embed" // the services
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/awslines"
)

//go:embed services.zip
var archive []byte

// protocols are those that the package supports.
var protocols = []string{"json", "query"}

// A service holds the lines of a service's operations, of shapes with @, and of errors with !.
type service struct {
	protocol    string
	jsonVersion string
	target      string // prefix of X-Amz-Target
	signing     string // name in signatures
	version     string // of the API
	id          string // name in errors of SDK integrations

	*awslines.Lines[shape]
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

var services awslines.Cache[service]

// serviceOf returns a service by its name in the ARNs of SDK integrations, or nil.
func serviceOf(key string) *service {
	return services.Of(key, func(key string) *service {
		first, rest, ok := strings.Cut(awslines.Text(archive, key), "\n")
		if !ok {
			return nil
		}
		const words = 7
		head := append(strings.Fields(first), make([]string, words)...)
		return &service{
			protocol: head[1], jsonVersion: head[2], target: head[3], signing: head[4], version: head[5], id: head[6],
			Lines: awslines.New(rest, read),
		}
	})
}

// operation returns the shapes of an action's input and output, or nil for an unknown action.
func (s *service) operation(name string) (input, output *shape, ok bool) {
	line, ok := s.ByName[name]
	if !ok || name == "" || strings.IndexByte("@!", name[0]) >= 0 {
		return nil, nil, false
	}
	in, out, _ := strings.Cut(line, " ")
	return s.Shape(in), s.Shape(out), true
}

// named returns the shape to which a use refers, or nil.
func (s *service) named(is *shape) *shape {
	if is != nil && is.kind == '@' {
		return s.Shape("@" + is.name)
	}
	return is
}

// read reads a shape.
func read(r *awslines.Reader) *shape {
	s := &shape{kind: r.Next()}
	switch s.kind {
	case '@':
		s.name = r.Until(",]>}")
	case '[', '<':
		s.flattened = r.Take("~")
		if r.Take("#") {
			s.item = r.Until("#")
			r.Take("#")
			if s.kind == '<' {
				s.key, s.item = s.item, r.Until("#")
				r.Take("#")
			}
		}
		s.of = read(r)
		r.Next()
	case '{':
		for !r.Take("}") {
			r.Take(",")
			s.fields = append(s.fields, readField(r))
		}
	}
	return s
}

func readField(r *awslines.Reader) field {
	f := field{name: r.Until("/=:")}
	f.sdk, f.wire = upperFirst(f.name), f.name
	if r.Take("/") {
		f.sdk = r.Until("=:")
	}
	if r.Take("=") {
		f.wire = r.Until(":")
	}
	r.Take(":")
	f.shape = read(r)
	return f
}
