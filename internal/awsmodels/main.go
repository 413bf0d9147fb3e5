// Awsmodels writes answers.zip and actions.zip, the answers and the parameters of AWS's services, from AWS's public
// service models:
//
//	go run ./internal/awsmodels -models MODELS -o internal/awsshape
//
// MODELS is the folder models/apis of github.com/aws/aws-sdk-go, in which each version of a service has an api-2.json.
// The archives have a file for each service, with a line for each operation. Package awsshape describes the lines.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/awsshape"
)

// A model is the part of an api-2.json that is used.
type model struct {
	Metadata   metadata `json:"metadata"`
	Operations map[string]struct {
		Input  *reference `json:"input"`
		Output *reference `json:"output"`
	} `json:"operations"`
	Shapes map[string]*shape `json:"shapes"`
}

type reference struct {
	Shape    string `json:"shape"`
	Document bool   `json:"document"`
	Token    bool   `json:"idempotencyToken"` // AWS's clients pass one themselves
}

type shape struct {
	Type     string               `json:"type"`
	Members  map[string]reference `json:"members"`
	Required []string             `json:"required"`
	Member   *reference           `json:"member"`
	Value    *reference           `json:"value"`
	Enum     []string             `json:"enum"`
	Min      json.Number          `json:"min"`
	Max      json.Number          `json:"max"`
	Document bool                 `json:"document"`
}

// limits returns the length or the range of a shape in the form of answers.zip, or "". A minimum length of 0 is not a
// limit.
func (s *shape) limits(length bool) string {
	least := s.Min.String()
	if length && least == "0" {
		least = ""
	}
	if least == "" && s.Max == "" {
		return ""
	}
	return "#" + least + ":" + s.Max.String() + "#"
}

func main() {
	models := flag.String("models", "", "folder of the models")
	out := flag.String("o", ".", "folder of the archives")
	calls := flag.String("calls", "", "file to write for package engine/awscall, instead of the shapes of answers")
	flag.Parse()
	write := func() error { return generate(*models, *out) }
	if *calls != "" {
		write = func() error { return generateCalls(*models, *calls) }
	}
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "awsmodels:", err)
		os.Exit(1)
	}
}

func generate(models, out string) error {
	services, err := newest(models, func(m *model) metadata { return m.Metadata })
	if err != nil {
		return err
	}
	if err := archive(filepath.Join(out, "answers.zip"), services, (*model).answers); err != nil {
		return err
	}
	return archive(filepath.Join(out, "actions.zip"), services, (*model).actions)
}

// actions returns the operations of a service, with the names of their parameters.
func (m *model) actions() string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		words := []string{operationName(name)}
		if in := m.Operations[name].Input; in != nil {
			s := m.Shapes[in.Shape]
			for _, member := range slices.Sorted(maps.Keys(s.Members)) {
				word := awsshape.SDKName(member)
				if slices.Contains(s.Required, member) && !s.Members[member].Token {
					word += "!"
				}
				words = append(words, word)
			}
		}
		lines.WriteString(strings.Join(words, " ") + "\n")
	}
	return lines.String()
}

// answers returns the operations of a service, and the shapes that they use.
func (m *model) answers() string {
	var lines []string
	needed := map[string]bool{}
	body := func(shape string) string { return m.body(m.Shapes[shape], needed) }
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		answer := "{}"
		if o := m.Operations[name].Output; o != nil {
			answer = body(o.Shape)
		}
		lines = append(lines, operationName(name)+" "+answer)
	}
	return withShapes(lines, needed, body)
}

// use returns a reference to a shape: simple shapes are written out, others are named.
func (m *model) use(r *reference, needed map[string]bool) string {
	s := m.Shapes[r.Shape]
	if r.Document || s.Document {
		return "*"
	}
	switch s.Type {
	case "structure", "list", "map":
		needed[r.Shape] = true
		return "@" + r.Shape
	}
	if len(s.Enum) > 0 {
		needed[r.Shape] = true
		return "@" + r.Shape
	}
	return m.body(s, needed)
}

func (m *model) body(s *shape, needed map[string]bool) string {
	switch s.Type {
	case "structure":
		fields := make([]string, 0, len(s.Members))
		ordered := append(slices.Clone(s.Required), slices.Sorted(maps.Keys(s.Members))...)
		for i, name := range ordered {
			member, ok := s.Members[name]
			if !ok || i >= len(s.Required) && slices.Contains(s.Required, name) {
				continue
			}
			field := name + ":" + m.use(&member, needed)
			if i < len(s.Required) {
				field += "!"
			}
			fields = append(fields, field)
		}
		return "{" + strings.Join(fields, ",") + "}"
	case "list":
		return "[" + s.limits(true) + m.use(s.Member, needed) + "]"
	case "map":
		return "<" + s.limits(true) + m.use(s.Value, needed) + ">"
	case "integer", "long", "short", "biginteger":
		return "i" + s.limits(false)
	case "float", "double", "bigdecimal":
		return "n" + s.limits(false)
	case "boolean":
		return "b"
	case "timestamp": // as a text
		return "s"
	case "blob": // as a text, which is longer than the bytes that it stands for
		return "s" + (&shape{Min: s.Min}).limits(true)
	default:
		words := strings.Join(s.Enum, "|")
		if words == "" || strings.ContainsAny(words, ")\n") {
			return "s" + s.limits(true)
		}
		return "s(" + words + ")"
	}
}
