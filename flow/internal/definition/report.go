package definition

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/spelling"
)

// MaxProblems is the maximum number of problems of each severity in a report.
//
//limit:asl reported problems of each severity (`asl.MaxProblems`) | {} | left out
const MaxProblems = 100

// A Report collects problems. A checker continues after each problem, so that all problems are reported at once.
type Report struct {
	Rules    *Common
	Source   Source // the source that is being read
	Where    string // prefix of every message: the state or definition that is being read
	Accepted bool   // the definition was accepted once, perhaps before some rules were made
	Problems flow.Diagnostics

	count map[flow.Severity]int
}

// A Source is a text with its name for messages: the definition itself, or a document that it has loaded.
type Source struct {
	File string
	Text []byte
}

// A Node is a value of a definition with its position.
type Node = jsontext.Node

// Add records a problem with the value n at an offset: of the value, of its name, or of a part of it.
func (r *Report) Add(rule *Rule, n *Node, at int, fix, message string) {
	if r.count == nil {
		r.count = map[flow.Severity]int{}
	}
	severity := rule.Severity
	if rule.Later && r.Accepted {
		severity = flow.SeverityWarning
	}
	if r.count[severity]++; r.count[severity] > MaxProblems {
		return
	}
	p := flow.Diagnostic{
		Code: rule.Code, Rule: rule.Name, Severity: severity, File: r.Source.File, Fix: fix, Message: r.Where + message,
	}
	if n != nil {
		p.Pointer = n.Pointer()
	}
	p.Line, p.Column = jsontext.Position(r.Source.Text, at)
	r.Problems = append(r.Problems, p)
}

// Valuef reports a problem with a value.
func (r *Report) Valuef(rule *Rule, n *Node, format string, args ...any) {
	r.Add(rule, n, n.At, "", fmt.Sprintf(format, args...))
}

// Fixf reports a problem with a value and its fix.
func (r *Report) Fixf(rule *Rule, n *Node, fix, format string, args ...any) {
	r.Add(rule, n, n.At, fix, fmt.Sprintf(format, args...))
}

// Namef reports a problem with a member's name.
func (r *Report) Namef(rule *Rule, m jsontext.Member, fix, format string, args ...any) {
	r.Add(rule, m.Value, m.At, fix, fmt.Sprintf(format, args...))
}

// Full reports whether the report has reached its limit of problems with a rule.
// The checker then skips details that are slow to determine.
func (r *Report) Full(rule *Rule) bool { return r.count[rule.Severity] >= MaxProblems }

// Line returns the line of a node.
func (r *Report) Line(rule *Rule, n *Node) int {
	if r.Full(rule) {
		return 0
	}
	line, _ := jsontext.Position(r.Source.Text, n.At)
	return line
}

// DidYouMean returns a fix that names the most similar candidate. It returns "" if no candidate is similar, or if
// the report has reached its limit of problems.
func (r *Report) DidYouMean(rule *Rule, name string, candidates []string, spell func(string) string) string {
	if r.Full(rule) {
		return ""
	}
	if near := spelling.Nearest(name, candidates); near != "" {
		return "did you mean " + spell(near) + "?"
	}
	return ""
}

// Within prefixes messages with where while read runs.
func (r *Report) Within(where string, read func()) {
	outer := r.Where
	r.Where = where
	defer func() { r.Where = outer }()
	read()
}

// Sorted returns the problems in the order of the text; problems of the file first come first.
func (r *Report) Sorted(first string) flow.Diagnostics {
	rank := func(p flow.Diagnostic) int {
		if p.File == first {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(r.Problems, func(a, b flow.Diagnostic) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column))
	})
	return r.Problems
}

// NameOf returns the name of a value for messages: its field, or its position in its list.
func NameOf(n *Node) string {
	switch {
	case n.Parent == nil:
		return "the definition"
	case n.Parent.Kind == jsontext.Array:
		return "an entry of " + NameOf(n.Parent)
	}
	return jsontext.Cut(n.Key)
}
