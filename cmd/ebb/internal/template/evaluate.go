package template

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/internal/spelling"
)

// maxMade is the maximum size of what the functions of a template make together in bytes, with 16 for each value.
//
//limit:command what the functions of a template make together | {B}
const maxMade = 64 << 20

// An evaluator calls the functions of a template.
type evaluator struct {
	root       *document.Document
	options    *Options
	template   *Template
	resources  map[string]*resource
	conditions map[string]*condition
	made       *int // bytes that functions have made, in this template and those that it nests
	depth      int
	missing    map[string]bool // names that were reported
	// The nested stacks by the IDs of their resources; nil while one is being read.
	nested map[string]*evaluator
	level  int // of nesting
	// What is made when it is needed first: the names of the machines, the folders of the layers by ARN, and the members
	// of large objects by name.
	machines map[string]bool
	layers   map[string]string
	indexes  map[*document.Document]map[string]*document.Document
}

// noValue is what AWS::NoValue stands for: the property that has it is removed.
var noValue = &document.Document{Text: "null"}

func newEvaluator(root *document.Document, o *Options) *evaluator {
	o.Account = cmp.Or(o.Account, "000000000000")
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Partition = cmp.Or(o.Partition, "aws")
	e := &evaluator{
		root: root, options: o, template: &Template{
			unused: map[string]bool{}, Places: map[string]Problem{},
		},
		resources: map[string]*resource{}, conditions: map[string]*condition{}, missing: map[string]bool{},
		made: new(int), nested: map[string]*evaluator{}, indexes: map[*document.Document]map[string]*document.Document{},
	}
	for name := range o.Values {
		e.template.unused[name] = true
	}
	for _, m := range members(root.Get("Parameters")) {
		e.template.names = append(e.template.names, m.Name)
	}
	for _, m := range members(root.Get("Resources")) {
		e.resources[m.Name] = &resource{
			id: m.Name, kind: m.Value.Get("Type").Says(), Place: m.Place, doc: m.Value,
			properties: m.Value.Get("Properties"),
		}
	}
	for _, m := range members(root.Get("Conditions")) {
		e.conditions[m.Name] = &condition{doc: m.Value}
	}
	e.checkParameters()
	return e
}

// members returns the members of an object; none for anything else.
func members(d *document.Document) []document.Member {
	if d == nil {
		return nil
	}
	return d.Members
}

func (e *evaluator) problemf(at document.Place, format string, args ...any) {
	e.template.Problems = append(e.template.Problems,
		Problem{at, e.options.File, fmt.Sprintf(format, args...)})
}

func (e *evaluator) warnf(at document.Place, format string, args ...any) {
	e.template.Warnings = append(e.template.Warnings,
		Problem{at, e.options.File, fmt.Sprintf(format, args...)})
}

// given returns a value that the caller has given, and remembers that it is of use.
func (e *evaluator) given(name string) (string, bool) {
	value, is := e.options.Values[name]
	delete(e.template.unused, name)
	return value, is
}

// maxDepth bounds the nesting of calls, also through the names of resources.
const maxDepth = 600

// value returns a value with all functions called; nil for nil.
func (e *evaluator) value(d *document.Document) *document.Document {
	if d == nil {
		return nil
	}
	if e.depth++; e.depth > maxDepth || *e.made > maxMade {
		e.depth--
		e.tooLarge(d.Place)
		return text(d, "")
	}
	defer func() { e.depth-- }()
	switch d.Kind {
	case document.List:
		out := &document.Document{Place: d.Place, Kind: document.List}
		for _, item := range d.Items {
			if item = e.value(item); item != noValue {
				out.Items = append(out.Items, item)
			}
		}
		*e.made += 16 * len(out.Items)
		return out
	case document.Object:
		if call := functions[onlyName(d)]; call != nil {
			return call(e, d, d.Members[0].Value)
		}
		out := &document.Document{Place: d.Place, Kind: document.Object}
		for _, m := range d.Members {
			if m.Name == "Fn::Transform" {
				out.Members = append(out.Members, e.included(m.Value).Members...)
				continue
			}
			if strings.HasPrefix(m.Name, "Fn::ForEach::") {
				e.warnf(m.Place, "%s is left out: Ebb does not support Fn::ForEach", m.Name)
				continue
			}
			if m.Value = e.value(m.Value); m.Value != noValue {
				out.Members = append(out.Members, m)
			}
		}
		*e.made += 16 * len(out.Members)
		return out
	default:
		return d
	}
}

func (e *evaluator) tooLarge(at document.Place) {
	if !e.missing["\x00large"] {
		e.missing["\x00large"] = true
		e.problemf(at, "the functions of the template make more than %d bytes together, or nest deeper than %d", maxMade,
			maxDepth)
	}
}

// onlyName returns the name of the only member of an object; "" if there is another number of members.
func onlyName(d *document.Document) string {
	if d.Kind != document.Object || len(d.Members) != 1 {
		return ""
	}
	return d.Members[0].Name
}

// text returns a text in place of a value.
func text(at *document.Document, s string) *document.Document {
	return &document.Document{Place: at.Place, Kind: document.Text, Text: s}
}

// made returns a text that a function has made, and counts it.
func (e *evaluator) makes(at *document.Document, s string) *document.Document {
	if *e.made += len(s) + 16; *e.made > maxMade {
		e.tooLarge(at.Place)
		s = ""
	}
	return text(at, s)
}

// say returns a value as a text: numbers and booleans as they are written, lists with commas.
func (e *evaluator) say(d *document.Document) string {
	switch d = e.value(d); {
	case d == nil || d == noValue:
		return ""
	case d.Kind == document.List:
		parts := make([]string, len(d.Items))
		for i, item := range d.Items {
			parts[i] = item.Text
		}
		return strings.Join(parts, ",")
	case d.Kind == document.Object:
		printed, _ := d.Print()
		return string(printed)
	}
	return d.Text
}

// says returns the text of a property of a resource; "" if there is none.
func (e *evaluator) says(r *resource, property string) string {
	return e.say(r.properties.Get(property))
}

// texts returns the members of an object as texts.
func (e *evaluator) texts(d *document.Document) map[string]string {
	out := map[string]string{}
	for _, m := range members(e.value(d)) {
		out[m.Name] = e.say(m.Value)
	}
	return out
}

// unresolved returns the placeholder for a name that has no value, unless the caller has given one. It warns of it.
func (e *evaluator) unresolved(at *document.Document, name, why string) *document.Document {
	if value, is := e.given(name); is {
		return e.makes(at, value)
	}
	if !e.missing[name] {
		e.missing[name] = true
		e.template.names = append(e.template.names, name)
		e.warnf(at.Place, "%s (--parameter '%s=VALUE' gives a value)", why, name)
	}
	return e.makes(at, "${"+name+"}")
}

// near returns what may be meant by a name that is not there.
func near(name string, known []string) string {
	if found := spelling.Nearest(name, known); found != "" {
		return ": did you mean " + found + "?"
	}
	return ""
}

// maxNear is for how many names that are not there something near is looked for.
const maxNear = 100

// nearResource returns what may be meant by the name of a resource or parameter that is not there, unless it was
// reported.
func (e *evaluator) nearResource(name, reported string, also ...string) string {
	if e.missing[reported] || len(e.missing) > maxNear {
		return ""
	}
	return near(name, append(sortedNames(e.resources), also...))
}

// member returns a member of an object, which may be asked for as often as a template likes.
func (e *evaluator) member(of *document.Document, name string) *document.Document {
	const small = 20
	if len(members(of)) < small {
		return of.Get(name)
	}
	if e.indexes[of] == nil {
		e.indexes[of] = map[string]*document.Document{}
		for _, m := range slices.Backward(of.Members) { // the first of a name counts
			e.indexes[of][m.Name] = m.Value
		}
	}
	return e.indexes[of][name]
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
