package awsshape

import (
	_ "embed" // the shapes
	"encoding/json"
	"strings"

	"github.com/ebbflow/ebb/internal/awslines"
)

//go:embed answers.zip
var archive []byte

// A service is the operations of a service, and its shapes with @.
type service = awslines.Lines[shape]

var services awslines.Cache[service]

// serviceOf returns a service by its [ServiceKey], or nil for an unknown one.
func serviceOf(key string) *service {
	return services.Of(key, func(key string) *service {
		text := awslines.Text(archive, key)
		if text == "" {
			return nil
		}
		return awslines.New(text, read)
	})
}

// read reads a shape.
func read(r *awslines.Reader) *shape {
	s := &shape{kind: r.Next()}
	if s.kind != '@' && r.Take("#") {
		s.least = json.Number(r.Until(":"))
		r.Take(":")
		s.most = json.Number(r.Until("#"))
		r.Take("#")
	}
	switch s.kind {
	case '@':
		s.name = r.Until("!,]>}")
	case 's':
		if r.Take("(") {
			s.words = strings.Split(r.Until(")"), "|")
			r.Take(")")
		}
	case '[', '<':
		s.of = read(r)
		r.Next()
	case '{':
		for !r.Take("}") {
			r.Take(",")
			f := field{name: r.Until(":")}
			r.Take(":")
			f.shape = read(r)
			f.required = r.Take("!")
			s.fields = append(s.fields, f)
		}
	}
	return s
}
