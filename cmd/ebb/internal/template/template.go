package template

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/internal/spelling"
	"github.com/ebbflow/ebb/server/lambda"
)

// Options are what a template does not say itself.
type Options struct {
	// Values are those of parameters and, for what is not in the template, of names that it refers to: exports
	// (Fn::ImportValue), outputs of nested stacks, and placeholders in definitions.
	Values map[string]string
	// Account, Region and Partition are in the ARNs. The defaults are 000000000000, us-east-1 and aws.
	Account, Region, Partition string
	// File is the name of the template in messages.
	File string
	// Folder is the folder of the template, in which the paths in the template are looked up; absolute.
	Folder string
	// Read returns the text of a file with at most so many bytes. A relative name is looked up in Folder.
	Read func(name string, most int64) ([]byte, error)
}

// A Template is what a template describes, with all functions called.
type Template struct {
	Machines   []*Machine
	Activities []string // names
	Aliases    []Alias
	Versions   []Version
	Schedules  []Schedule
	Rules      []Rule
	Functions  []lambda.Function
	Places     map[string]Problem // of the functions, by name; without texts
	// Problems are errors of the template, which a deployment would refuse. Warnings are about what Ebb does not do.
	Problems, Warnings []Problem

	unused map[string]bool // values that nothing has asked for
	names  []string        // that something has asked for, or might have
}

// A Problem is a problem with its place in the template.
type Problem struct {
	document.Place

	File string // as messages name it
	Text string
}

// IsTemplate reports whether a document is a template.
func IsTemplate(d *document.Document) bool {
	return d.Kind == document.Object && d.Get("Resources") != nil && d.Get("Resources").Kind == document.Object &&
		d.Get("States") == nil
}

// Read reads a template.
func Read(d *document.Document, o Options) *Template {
	e := newEvaluator(d, &o)
	e.addAll()
	t := e.template
	slices.SortStableFunc(t.Problems, byPlace)
	slices.SortStableFunc(t.Warnings, byPlace)
	return t
}

// addAll adds what all resources describe.
func (e *evaluator) addAll() {
	for i := range e.root.Get("Resources").Members {
		e.addResource(&e.root.Get("Resources").Members[i])
	}
}

func byPlace(a, b Problem) int {
	if a.File != b.File {
		return strings.Compare(a.File, b.File)
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// Unused returns an error that names values that nothing in the template and its definitions has asked for. Call it
// when all definitions are filled.
func (t *Template) Unused() error {
	names := sortedNames(t.unused)
	if len(names) == 0 {
		return nil
	}
	slices.Sort(t.names)
	known := slices.Compact(t.names)
	fix := "it has none"
	if near := spelling.Nearest(names[0], known); near != "" {
		fix = "did you mean " + near + "?"
	} else if len(known) > 0 {
		fix = "it has " + strings.Join(known[:min(len(known), maxNamed)], ", ")
	}
	return fmt.Errorf("there is no parameter or placeholder %s: %s", names[0], fix)
}

// maxNamed is how many names an error lists.
const maxNamed = 20

// addResource adds what a resource describes.
func (e *evaluator) addResource(m *document.Member) {
	if strings.HasPrefix(m.Name, "Fn::ForEach") {
		e.warnf(m.Place, "%s is left out: Ebb does not support Fn::ForEach; give the template that AWS makes of it "+
			"(aws cloudformation get-template --template-stage Processed)", m.Name)
		return
	}
	r := e.resources[m.Name]
	if r == nil || !e.holds(r.doc.Get("Condition")) {
		return
	}
	switch r.kind {
	case "AWS::StepFunctions::StateMachine", "AWS::Serverless::StateMachine":
		e.addMachine(r)
	case "AWS::StepFunctions::Activity":
		e.template.Activities = append(e.template.Activities, e.nameOf(r))
	case "AWS::StepFunctions::StateMachineAlias":
		e.addAlias(r)
	case "AWS::StepFunctions::StateMachineVersion":
		e.addVersion(r)
	case "AWS::Lambda::Function", "AWS::Serverless::Function":
		e.addFunction(r)
	case "AWS::Events::Rule":
		e.addRule(r)
	case "AWS::Scheduler::Schedule":
		e.addSchedule(r)
	case "AWS::Pipes::Pipe":
		if e.machineNamed(e.says(r, "Target")) != "" {
			e.warnf(r.Place, "the pipe %s is left out: send its events to /events, or start executions by StartExecution", r.id)
		}
	case "AWS::CloudFormation::Stack", "AWS::Serverless::Application":
		e.addNested(r)
	}
}

// path returns the path of a file or folder that the template names.
func (e *evaluator) path(name string) string {
	if !strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, `\`, "/") // sam build on Windows
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.options.Folder, name)
}
