package sm4c

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/spelling"
)

// A report collects problems. The code that reads a definition goes on behind each, so
// that all are reported at once.
type report struct {
	source   source // what is being read
	where    string // begins every message: which state or definition is being read
	problems Problems
	count    map[Severity]int
}

// A source is a text with the name that stands for it in messages: the
// definition itself, or a document that it has loaded.
type source struct {
	file string
	text []byte
}

// add notes a problem with the value n at an offset, which is that of the value,
// of its name, or of something in it.
func (r *report) add(rule *Rule, n *node, at int, fix, message string) {
	if r.count == nil {
		r.count = map[Severity]int{}
	}
	if r.count[rule.Severity]++; r.count[rule.Severity] > MaxProblems {
		return
	}
	p := Problem{Rule: rule.Name, Severity: rule.Severity, File: r.source.file, Fix: fix, Message: r.where + message}
	if n != nil {
		p.Pointer = n.Pointer()
	}
	p.Line, p.Column = jsontext.Position(r.source.text, at)
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

// didYouMean returns a fix that names what was most likely meant, "" when
// nothing is near.
func didYouMean(name string, candidates []string) string {
	if near := spelling.Nearest(name, candidates); near != "" {
		return "did you mean " + quote(near) + "?"
	}
	return ""
}

// sorted returns the problems in the order of the text, those of the definition
// first.
func (r *report) sorted(file string) Problems {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a.File, file), rank(b.File, file)), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.problems
}

func rank(file, first string) int {
	if file == first {
		return 0
	}
	return 1
}

// node is a value of a definition with its place.
type node = jsontext.Node

func quote(text string) string { return jsontext.Quote(text) }
