package template

import (
	"maps"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// maxLevel is how deep stacks may nest.
//
//limit:command nesting of stacks in a template | {}
const maxLevel = 8

// stackOf returns the evaluator of a nested stack whose template is on this machine; nil if it is not.
func (e *evaluator) stackOf(r *resource) *evaluator {
	if child, begun := e.nested[r.id]; begun {
		return child
	}
	e.nested[r.id] = nil                                       // a stack that needs its own outputs does not find them
	name := r.doc.Get("Metadata").Get("aws:asset:path").Says() // CDK
	for _, property := range []string{"Location", "TemplateURL"} {
		if d := e.property(r, property); name == "" && d.Says() != "" && !strings.Contains(d.Text, "://") {
			name = d.Text
		}
	}
	if name == "" {
		return nil
	}
	if e.level >= maxLevel {
		e.problemf(r.Place, "stacks nest deeper than %d", maxLevel)
		return nil
	}
	d, err := e.read(name)
	if err == nil && !IsTemplate(d) {
		err = errNoTemplate
	}
	if err != nil {
		e.problemf(r.Place, "the template %q of the nested stack %s: %v", name, r.id, err)
		return nil
	}
	file := e.path(name)
	shown, err := filepath.Rel(e.options.Folder, file)
	if err != nil {
		shown = name
	}
	options := *e.options
	options.File, options.Folder = filepath.Join(filepath.Dir(e.options.File), shown), filepath.Dir(file)
	options.Values = maps.Clone(e.options.Values)
	for _, parameter := range members(d.Get("Parameters")) {
		delete(options.Values, parameter.Name) // it is of the template above
	}
	if options.Values == nil {
		options.Values = map[string]string{}
	}
	maps.Copy(options.Values, e.texts(r.properties.Get("Parameters")))
	child := newEvaluator(d, &options)
	child.made, child.level, child.template.unused = e.made, e.level+1, e.template.unused
	e.nested[r.id] = child
	return child
}

// addNested adds what a nested stack describes.
func (e *evaluator) addNested(r *resource) {
	child := e.stackOf(r)
	if child == nil {
		return
	}
	child.addAll()
	t, of := e.template, child.template
	t.Machines = append(t.Machines, of.Machines...)
	t.Activities = append(t.Activities, of.Activities...)
	t.Aliases = append(t.Aliases, of.Aliases...)
	t.Versions = append(t.Versions, of.Versions...)
	t.Schedules = append(t.Schedules, of.Schedules...)
	t.Rules = append(t.Rules, of.Rules...)
	t.Functions = append(t.Functions, of.Functions...)
	t.Problems = append(t.Problems, of.Problems...)
	t.Warnings = append(t.Warnings, of.Warnings...)
	maps.Copy(t.Places, of.Places)
}

// output returns an output of a nested stack.
func (e *evaluator) output(r *resource, name string) (string, bool) {
	child := e.stackOf(r)
	if child == nil {
		return "", false
	}
	var value *document.Document
	if value = child.member(child.root.Get("Outputs"), name).Get("Value"); value == nil {
		return "", false
	}
	return child.say(value), true
}
