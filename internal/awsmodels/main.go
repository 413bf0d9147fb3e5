// Awsmodels writes answers.zip, the shapes of the answers of AWS's services, from AWS's public service models:
//
//	go run ./internal/awsmodels -models MODELS -o internal/awsshape/answers.zip
//
// MODELS is the folder models/apis of github.com/aws/aws-sdk-go, in which each version of a service has an api-2.json.
// The archive has a file for each service, with a line for each operation. Package awsshape describes the lines.
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
		Output *reference `json:"output"`
	} `json:"operations"`
	Shapes map[string]*shape `json:"shapes"`
}

type reference struct {
	Shape    string `json:"shape"`
	Document bool   `json:"document"`
}

type shape struct {
	Type     string               `json:"type"`
	Members  map[string]reference `json:"members"`
	Required []string             `json:"required"`
	Member   *reference           `json:"member"`
	Value    *reference           `json:"value"`
	Enum     []string             `json:"enum"`
	Document bool                 `json:"document"`
}

func main() {
	models := flag.String("models", "", "folder of the models")
	out := flag.String("o", "answers.zip", "file to write")
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
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		w, err := z.Create(key)
		if err != nil {
			return err
		}
		if err := newest[key].write(w); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// write writes the operations of a service, and the shapes that they use.
func (m *model) write(w io.Writer) error {
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
		return "[" + m.use(s.Member, needed) + "]"
	case "map":
		return "<" + m.use(s.Value, needed) + ">"
	case "integer", "long", "float", "double", "short", "biginteger", "bigdecimal":
		return "n"
	case "boolean":
		return "b"
	default: // texts, times and blobs
		words := strings.Join(s.Enum, "|")
		if words == "" || strings.ContainsAny(words, ")\n") {
			return "s"
		}
		return "s(" + words + ")"
	}
}
