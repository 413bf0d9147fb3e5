package casetest

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/spelling"
	"github.com/ebbflow/ebb/server/lambda"
)

// A Suite is a case file with its definition, ready to run.
type Suite struct {
	File     *File
	Def      *definition.Definition
	Flows    map[string]*definition.Definition // Def and the definitions that it runs, by name
	Coverage *Coverage
	// Functions run the Lambda functions of the template, for states without a mock; nil if they do not run.
	Functions *lambda.Server

	beginning definition.Beginning
}

// A Result is the result of a case.
type Result struct {
	File       string     `json:"file"`
	Case       string     `json:"case"`
	Line       int        `json:"line"` // of the case
	Column     int        `json:"column"`
	Passed     bool       `json:"passed"`
	Status     string     `json:"status"`               // how the run ended
	Error      string     `json:"error,omitempty"`      // code of the run's failure
	Path       []string   `json:"path"`                 // the first states that the run entered, in order
	Mismatches []Mismatch `json:"mismatches,omitempty"` // why the case did not pass
	FailAt     *FailAt    `json:"fail_at,omitempty"`    // what failures and crashes leave; nil if not asked for
	VirtualMS  int64      `json:"virtual_ms"`           // how long the run took, in virtual time
	RealMS     int64      `json:"real_ms"`              // how long the case took
}

// maxPath is how many states of its path a result contains.
const maxPath = 10_000

// Open reads the definition of a case file.
func Open(f *File, how definition.Reading) (*Suite, error) {
	def, err := definition.Read(f.Definition, how)
	if err != nil {
		return nil, err
	}
	s := &Suite{File: f, Def: def, Flows: map[string]*definition.Definition{def.Name: def}}
	if _, err := definition.ReadFlows(f.Definition, s.Flows, how); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(f.Definition))
	if err != nil {
		return nil, err
	}
	s.beginning = definition.Beginning{Dir: dir, Flows: map[string]string{}}
	for name, d := range s.Flows {
		s.beginning.Flows[name] = d.Hash
	}
	s.Coverage = newCoverage(def)
	return s, s.checkNames()
}

// checkNames returns an error if cases name states that the definition does not have. In SM4C, actions have names too,
// and nothing is checked.
func (s *Suite) checkNames() error {
	if s.Def.Language == definition.SM4C {
		return nil
	}
	d := &nameChecker{decoder: decoder{file: s.File.Name}}
	d.states = statesOf(s.Def)
	for _, def := range s.Flows {
		d.all = append(d.all, statesOf(def)...)
		for _, use := range def.Machine.Uses() {
			d.all = append(d.all, use.Task)
		}
	}
	for _, c := range s.File.Cases {
		d.mocks(c.Mocks)
		d.mocks(c.Undo)
		for i := range c.Expect.Calls {
			d.check(c.Expect.Calls[i].At, "call of", c.Expect.Calls[i].State, d.all)
		}
		d.list(c.Expect.Path)
		d.list(c.Expect.Undone)
	}
	slices.Sort(d.problems)
	if d.problems = slices.Compact(d.problems); len(d.problems) > 0 {
		return d.problems
	}
	return nil
}

// statesOf returns the names of the states of a definition.
func statesOf(def *definition.Definition) []string {
	var names []string
	for _, part := range def.Machine.Parts() {
		if part.Kind == grow.StatePart {
			names = append(names, part.State)
		}
	}
	return names
}

// A nameChecker compares the names in a case file with those in the definition.
type nameChecker struct {
	decoder

	states []string // of the definition
	all    []string // states and tasks of the definition, and of those that it runs
}

func (d *nameChecker) check(at document.Place, what, name string, known []string) {
	if slices.Contains(known, name) {
		return
	}
	fix := ""
	_, state := nodepath.Names(name)
	if slices.Contains(known, state) {
		fix = " (did you mean " + strconv.Quote(state) + "? A case names a state without the path of its visit)"
	} else if near := spelling.Nearest(name, known); near != "" {
		fix = " (did you mean " + strconv.Quote(near) + "?)"
	}
	d.failf(at, "%s %q: the definition has no such state or task%s", what, name, fix)
}

// mocks checks the names of mocks. A mock without an answer has no position to report.
func (d *nameChecker) mocks(of map[string][]Answer) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if len(of[name]) > 0 {
			d.check(of[name][0].At, "mock", name, d.all)
		}
	}
}

func (d *nameChecker) list(names *document.Document) {
	if names != nil {
		for _, item := range names.Items {
			d.check(item.Place, "state", item.Text, d.states)
		}
	}
}

// Run runs a case within the given real time.
func (s *Suite) Run(ctx context.Context, c *Case, timeout time.Duration) *Result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	begin := time.Now()
	out := s.play(ctx, c, s.Def.Machine.Watched(s.Coverage.through))
	r := &Result{
		File: s.File.Name, Case: c.Name, Line: c.At.Line, Column: c.At.Column, Path: out.path[:min(len(out.path), maxPath)],
		Mismatches: judge(c, out), VirtualMS: out.took.Milliseconds(), RealMS: time.Since(begin).Milliseconds(),
		Status: out.status(),
	}
	if out.run.Failure != nil {
		r.Error = out.run.Failure.Code
	}
	if r.Path == nil {
		r.Path = []string{}
	}
	r.Passed = len(r.Mismatches) == 0
	return r
}

// String returns the result as a line, such as: order.test.yaml:12:5: paid.
func (r *Result) String() string {
	return r.File + ":" + strconv.Itoa(r.Line) + ":" + strconv.Itoa(r.Column) + ": " + r.Case
}

// place returns a mismatch as a line with its position.
func (r *Result) place(m Mismatch) string {
	return fmt.Sprintf("%s:%d:%d: %s", r.File, m.Line, m.Column, m.What)
}
