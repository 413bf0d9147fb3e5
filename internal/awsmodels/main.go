// Awsmodels writes answers.zip and actions.zip, what AWS's services answer and are passed, from AWS's public service
// models:
//
//	go run ./internal/awsmodels -models MODELS -o internal/awsshape
//
// MODELS is the folder models/apis of github.com/aws/aws-sdk-go, in which each version of a service has an api-2.json.
// The archives have a file for each service, with a line for each operation. Package awsshape describes the lines.
package main

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/awsshape"
)

// A model is what is used of an api-2.json.
type model struct {
	Metadata struct {
		APIVersion      string `json:"apiVersion"`
		ServiceID       string `json:"serviceId"`
		ServiceFullName string `json:"serviceFullName"`
	} `json:"metadata"`
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

// limits returns the length or the range of a shape as answers.zip has it; "" if the shape has none. A least length
// of 0 limits nothing.
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

// modelFiles returns the files of the models in a folder.
func modelFiles(models string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(models, "*", "*", "api-2.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no api-2.json below %s", models)
	}
	return files, err
}

func generate(models, out string) error {
	files, err := modelFiles(models)
	if err != nil {
		return err
	}
	newest := map[string]*model{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var m model
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name := m.Metadata.ServiceID
		if name == "" {
			name = m.Metadata.ServiceFullName
		}
		key := awsshape.ServiceKey(name)
		if old := newest[key]; old == nil || old.Metadata.APIVersion < m.Metadata.APIVersion {
			newest[key] = &m
		}
	}
	if err := archive(filepath.Join(out, "answers.zip"), newest, (*model).answers); err != nil {
		return err
	}
	return archive(filepath.Join(out, "actions.zip"), newest, (*model).actions)
}

// archive writes a file with an entry for each service.
func archive(file string, services map[string]*model, write func(*model, io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	for _, key := range slices.Sorted(maps.Keys(services)) {
		w, err := z.Create(key)
		if err != nil {
			return err
		}
		if err := write(services[key], w); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// actions writes the operations of a service, and the names of what they are passed.
func (m *model) actions(w io.Writer) error {
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		words := []string{strings.ToLower(name[:1]) + name[1:]}
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
		if _, err := io.WriteString(w, strings.Join(words, " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// answers writes the operations of a service, and the shapes that they use.
func (m *model) answers(w io.Writer) error {
	var lines []string
	needed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		line := strings.ToLower(name[:1]) + name[1:] + " {}"
		if o := m.Operations[name].Output; o != nil {
			line = strings.ToLower(name[:1]) + name[1:] + " " + m.body(m.Shapes[o.Shape], needed)
		}
		lines = append(lines, line)
	}
	written := map[string]bool{}
	for len(needed) > len(written) {
		for _, name := range slices.Sorted(maps.Keys(needed)) {
			if !written[name] {
				written[name] = true
				lines = append(lines, "@"+name+" "+m.body(m.Shapes[name], needed))
			}
		}
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// use returns a use of a shape: simple ones are written out, others are named.
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
	case "timestamp", "blob": // as texts, whose length is not that of the model
		return "s"
	default:
		words := strings.Join(s.Enum, "|")
		if words == "" || strings.ContainsAny(words, ")\n") {
			return "s" + s.limits(true)
		}
		return "s(" + words + ")"
	}
}
