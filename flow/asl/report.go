package asl

import (
	"fmt"

	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/spelling"
)

// A report collects problems. The code that reads a definition goes on behind each, so
// that all are reported at once.
type report struct {
	file     string
	source   []byte
	where    string // begins every message: which state is being read
	problems Problems
	count    map[Severity]int
}

// add notes a problem with the value n at an offset, which is that of the value
// or of its name.
func (r *report) add(rule *Rule, n *node, at int, fix, message string) {
	if r.count == nil {
		r.count = map[Severity]int{}
	}
	if r.count[rule.Severity]++; r.count[rule.Severity] > MaxProblems {
		return
	}
	p := Problem{Code: rule.Code, Rule: rule.Name, Severity: rule.Severity, File: r.file, Fix: fix, Message: r.where + message}
	if n != nil {
		p.Pointer = n.Pointer()
	}
	p.Line, p.Column = Position(r.source, at)
	r.problems = append(r.problems, p)
}

// valuef reports what is wrong with a value.
func (r *report) valuef(rule *Rule, n *node, format string, args ...any) {
	r.add(rule, n, n.At, "", fmt.Sprintf(format, args...))
}

// fixf reports what is wrong with a value and what would be right.
func (r *report) fixf(rule *Rule, n *node, fix, format string, args ...any) {
	r.add(rule, n, n.At, fix, fmt.Sprintf(format, args...))
}

// namef reports what is wrong with a member's name.
func (r *report) namef(rule *Rule, m jsontext.Member, fix, format string, args ...any) {
	r.add(rule, m.Value, m.At, fix, fmt.Sprintf(format, args...))
}

// full reports whether the report has reached its limit of problems with a rule.
// The checker then skips details that are slow to determine.
func (r *report) full(rule *Rule) bool { return r.count[rule.Severity] >= MaxProblems }

// line returns the line in which a node stands.
func (r *report) line(rule *Rule, n *node) int {
	if r.full(rule) {
		return 0
	}
	line, _ := Position(r.source, n.At)
	return line
}

// didYouMean returns a fix that names what was most likely meant, "" when
// nothing is near, or when the report has reached its limit of problems.
func (r *report) didYouMean(rule *Rule, name string, candidates []string, spell func(string) string) string {
	if r.full(rule) {
		return ""
	}
	if near := spelling.Nearest(name, candidates); near != "" {
		return "did you mean " + spell(near) + "?"
	}
	return ""
}

func plainly(text string) string { return text }
