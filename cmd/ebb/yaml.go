package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ebbflow/ebb/flow/asl"
)

// parseYAML reads a document from YAML. Tags of CloudFormation become the
// objects that they stand for: !Ref Name is {"Ref": "Name"}.
func parseYAML(text []byte) (*document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, &documentError{place{1, 1}, "the file is empty"}
	} else if err != nil {
		return nil, yamlError(err)
	}
	var more yaml.Node
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &documentError{place{more.Line, more.Column}, "the file has a second document"}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(err)
	}
	r := &yamlReader{lines: bytes.Split(text, []byte("\n")), budget: 2*len(text) + maxAliased}
	return r.value(root.Content[0], 0)
}

// maxAliased is how much aliases may stand for, in bytes and values, besides what
// is written out: a few lines of YAML can stand for billions.
const maxAliased = asl.MaxDefinition

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError returns the error of the YAML parser with its place.
func yamlError(err error) error {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	at := place{1, 1}
	if m := yamlLine.FindStringSubmatchIndex(problem); m != nil {
		at.line, _ = strconv.Atoi(problem[m[2]:m[3]]) // it is digits
		problem = problem[:m[0]] + problem[m[1]:]
	}
	return &documentError{at, "the YAML is broken: " + problem}
}

type yamlReader struct {
	lines  [][]byte
	budget int // values and bytes in them that may still be read
}

func (r *yamlReader) value(n *yaml.Node, depth int) (*document, error) {
	at := place{n.Line, n.Column}
	if r.budget -= 1 + len(n.Value); r.budget < 0 {
		return nil, &documentError{at, "aliases stand for too much"}
	}
	if depth > maxDepth {
		return nil, &documentError{at, fmt.Sprintf("values nest deeper than %d", maxDepth)}
	}
	if n.Kind == yaml.AliasNode {
		return r.value(n.Alias, depth+1)
	}
	d := &document{place: at}
	var err error
	switch n.Kind {
	case yaml.MappingNode:
		d.kind = objectDocument
		d.members, err = r.members(n, depth)
	case yaml.SequenceNode:
		d.kind = listDocument
		for _, item := range n.Content {
			value, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			d.items = append(d.items, value)
		}
	default:
		err = r.scalar(d, n)
	}
	if err != nil {
		return nil, err
	}
	return tagged(d, n.Tag), nil
}

// members reads a mapping. Those that it merges (<<) stand behind its own, which
// win over them.
func (r *yamlReader) members(n *yaml.Node, depth int) ([]documentMember, error) {
	var own, merged []documentMember
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := place{key.Line, key.Column}
		r.budget -= 1 + len(key.Value)
		value, err := r.value(n.Content[i+1], depth+1)
		switch {
		case err != nil:
			return nil, err
		case key.ShortTag() == "!!merge":
			merged = append(merged, mergedMembers(value)...)
		case key.Kind != yaml.ScalarNode:
			return nil, &documentError{at, "a key must be a plain text"}
		default:
			own = append(own, documentMember{at, key.Value, value})
		}
	}
	has := make(map[string]bool, len(own))
	for _, m := range own {
		has[m.name] = true
	}
	for _, m := range merged {
		if !has[m.name] {
			has[m.name] = true
			own = append(own, m)
		}
	}
	return own, nil
}

func mergedMembers(d *document) []documentMember {
	members := d.members
	for _, item := range d.items {
		members = append(members, item.members...)
	}
	return members
}

// scalar reads a plain value.
func (r *yamlReader) scalar(d *document, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		d.text = "null"
	case "!!bool":
		d.text = strings.ToLower(n.Value)
	case "!!int", "!!float":
		var number any
		if err := n.Decode(&number); err != nil {
			return yamlError(err)
		}
		d.text = numberText(n.Value, number)
		if d.text == "" {
			return &documentError{d.place, n.Value + " is no number of JSON"}
		}
	default:
		d.kind, d.text = textDocument, n.Value
		r.style(d, n)
	}
	return nil
}

// style notes how a text is written, so that places in it are known.
func (r *yamlReader) style(d *document, n *yaml.Node) {
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		d.block = r.block(n)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		d.escapes, d.quoted = "\"\\\n\t", true
	case n.Style&yaml.SingleQuotedStyle != 0:
		d.escapes, d.quoted = "'", true
	case n.Style == 0 && n.Line <= len(r.lines) && bytes.Contains(r.lines[n.Line-1], []byte(n.Value)):
		d.escapes = "\x00" // none
	}
}

var numberOfJSON = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// numberText returns a number as JSON writes it, as it stands if it can, "" if
// JSON has no such number.
func numberText(written string, number any) string {
	if numberOfJSON.MatchString(written) {
		return written
	}
	if text := fmt.Sprint(number); numberOfJSON.MatchString(text) {
		return text
	}
	return ""
}

// block returns where the text of a block begins: behind the indentation of its
// first line that is not blank.
func (r *yamlReader) block(n *yaml.Node) *place {
	for i := n.Line; i < len(r.lines); i++ {
		if trimmed := bytes.TrimLeft(r.lines[i], " "); len(bytes.TrimSpace(trimmed)) > 0 {
			return &place{n.Line + 1, len(r.lines[i]) - len(trimmed) + 1}
		}
	}
	return nil
}

// tagged returns the object that a value with a tag of CloudFormation stands
// for.
func tagged(d *document, tag string) *document {
	name, ok := strings.CutPrefix(tag, "!")
	if !ok || name == "" || strings.HasPrefix(name, "!") {
		return d
	}
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	if name == "Fn::GetAtt" && d.kind == textDocument {
		resource, attribute, _ := strings.Cut(d.text, ".")
		d = &document{place: d.place, kind: listDocument, items: []*document{
			{place: d.place, kind: textDocument, text: resource}, {place: d.place, kind: textDocument, text: attribute},
		}}
	}
	return &document{place: d.place, kind: objectDocument, members: []documentMember{{d.place, name, d}}}
}
