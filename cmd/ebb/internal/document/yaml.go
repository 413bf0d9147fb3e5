package document

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

// ParseYAML parses a YAML document. It converts tags of CloudFormation to objects: !Ref Name becomes {"Ref":
// "Name"}.
func ParseYAML(text []byte) (*Document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, &Error{Place{1, 1}, "the file is empty"}
	} else if err != nil {
		return nil, yamlError(err)
	}
	var more yaml.Node
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &Error{Place{more.Line, more.Column}, "the file has a second document"}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(err)
	}
	r := &yamlReader{lines: bytes.Split(text, []byte("\n")), budget: 2*len(text) + maxAliased}
	return r.value(root.Content[0], 0)
}

// maxAliased bounds the content that aliases repeat, in bytes and values: a few lines of YAML can expand to
// billions.
//
//limit:command expansion of YAML aliases | {B}
const maxAliased = asl.MaxDefinition

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlError returns the error of the YAML parser with its place.
func yamlError(err error) error {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	at := Place{1, 1}
	if m := yamlLine.FindStringSubmatchIndex(problem); m != nil {
		at.Line, _ = strconv.Atoi(problem[m[2]:m[3]]) // it is digits
		problem = problem[:m[0]] + problem[m[1]:]
		if strings.HasPrefix(problem, "did not find expected") {
			at.Line++ // the library counts from 0 here
		}
	}
	if strings.Contains(problem, "expected ',' or ") {
		problem += " (quote a text with one of ? : , [ ] { } in it)"
	}
	return &Error{at, "the YAML is broken: " + problem}
}

type yamlReader struct {
	lines  [][]byte
	budget int // values and bytes in them that may still be read
}

func (r *yamlReader) value(n *yaml.Node, depth int) (*Document, error) {
	at := Place{n.Line, n.Column}
	if r.budget -= 1 + len(n.Value); r.budget < 0 {
		return nil, &Error{at, "aliases stand for too much"}
	}
	if depth > maxDepth {
		return nil, &Error{at, fmt.Sprintf("values nest deeper than %d", maxDepth)}
	}
	if n.Kind == yaml.AliasNode {
		return r.value(n.Alias, depth+1)
	}
	d := &Document{Place: at}
	var err error
	switch n.Kind {
	case yaml.MappingNode:
		d.Kind = Object
		d.Members, err = r.members(n, depth)
	case yaml.SequenceNode:
		d.Kind = List
		for _, item := range n.Content {
			value, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			d.Items = append(d.Items, value)
		}
	default:
		err = r.scalar(d, n)
	}
	if err != nil {
		return nil, err
	}
	return tagged(d, n.Tag), nil
}

// members reads a mapping. Merged members (<<) follow its own members, which take precedence.
func (r *yamlReader) members(n *yaml.Node, depth int) ([]Member, error) {
	var own, merged []Member
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := Place{key.Line, key.Column}
		r.budget -= 1 + len(key.Value)
		value, err := r.value(n.Content[i+1], depth+1)
		switch {
		case err != nil:
			return nil, err
		case key.ShortTag() == "!!merge":
			merged = append(merged, mergedMembers(value)...)
		case key.Kind != yaml.ScalarNode:
			return nil, &Error{at, "a key must be a plain text"}
		default:
			own = append(own, Member{at, key.Value, value})
		}
	}
	has := make(map[string]bool, len(own))
	for _, m := range own {
		has[m.Name] = true
	}
	for _, m := range merged {
		if !has[m.Name] {
			has[m.Name] = true
			own = append(own, m)
		}
	}
	return own, nil
}

func mergedMembers(d *Document) []Member {
	members := d.Members
	for _, item := range d.Items {
		members = append(members, item.Members...)
	}
	return members
}

// scalar reads a plain value.
func (r *yamlReader) scalar(d *Document, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		d.Text = "null"
	case "!!bool":
		d.Text = strings.ToLower(n.Value)
	case "!!int", "!!float":
		var number any
		if err := n.Decode(&number); err != nil {
			return yamlError(err)
		}
		d.Text = numberText(n.Value, number)
		if d.Text == "" {
			return &Error{d.Place, n.Value + " is no number of JSON"}
		}
	default:
		d.Kind, d.Text = Text, n.Value
		r.style(d, n)
	}
	return nil
}

// style records how a text is written, so that positions in it are known.
func (r *yamlReader) style(d *Document, n *yaml.Node) {
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		d.Block = r.block(n)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		d.escapes, d.quoted = "\"\\\n\t", true
	case n.Style&yaml.SingleQuotedStyle != 0:
		d.escapes, d.quoted = "'", true
	case n.Style == 0 && n.Line <= len(r.lines) && bytes.Contains(r.lines[n.Line-1], []byte(n.Value)):
		d.escapes = "\x00" // none
	}
}

var numberOfJSON = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// numberText returns a number as JSON: its own text if possible; "" if JSON has no such number.
func numberText(written string, number any) string {
	if numberOfJSON.MatchString(written) {
		return written
	}
	if text := fmt.Sprint(number); numberOfJSON.MatchString(text) {
		return text
	}
	return ""
}

// block returns the position at which the text of a block starts: after the indentation of its first line that is
// not blank.
func (r *yamlReader) block(n *yaml.Node) *Place {
	for i := n.Line; i < len(r.lines); i++ {
		if trimmed := bytes.TrimLeft(r.lines[i], " "); len(bytes.TrimSpace(trimmed)) > 0 {
			return &Place{n.Line + 1, len(r.lines[i]) - len(trimmed) + 1}
		}
	}
	return nil
}

// tagged returns the object for a value with a tag of CloudFormation.
func tagged(d *Document, tag string) *Document {
	name, ok := strings.CutPrefix(tag, "!")
	if !ok || name == "" || strings.HasPrefix(name, "!") {
		return d
	}
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	if name == "Fn::GetAtt" && d.Kind == Text {
		resource, attribute, _ := strings.Cut(d.Text, ".")
		d = &Document{Place: d.Place, Kind: List, Items: []*Document{
			{Place: d.Place, Kind: Text, Text: resource}, {Place: d.Place, Kind: Text, Text: attribute},
		}}
	}
	return &Document{Place: d.Place, Kind: Object, Members: []Member{{d.Place, name, d}}}
}
