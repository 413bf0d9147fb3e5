package flow

import (
	"fmt"
	"slices"
	"strings"
)

// Severity is how serious a diagnostic is.
type Severity string

// The severities.
const (
	SeverityError       Severity = "ERROR"       // the definition is not legal
	SeverityUnsupported Severity = "UNSUPPORTED" // it is legal, but this version of Ebb cannot run it
	SeverityWarning     Severity = "WARNING"     // it can run, but probably does not do what was meant
)

// A DiagnosticCode names the kind of a problem, in the words of the language's
// authors.
type DiagnosticCode string

// A Diagnostic is one error, or one likely error, in a definition that is a text. All
// languages use it. An error in a flow built in Go is a [Problem].
type Diagnostic struct {
	Code     DiagnosticCode `json:"code,omitempty"` // "" in a language that has no such words
	Rule     string         `json:"rule"`           // name of the language's rule that is broken
	Severity Severity       `json:"severity"`       // how serious it is
	File     string         `json:"file,omitempty"` // the name Parse was given, or the URI of a document that was loaded
	Pointer  string         `json:"pointer"`        // JSON pointer to the value; "" is the whole definition
	Line     int            `json:"line"`           // line, counted from 1
	Column   int            `json:"column"`         // column in characters, counted from 1
	Message  string         `json:"message"`        // the problem
	Fix      string         `json:"fix,omitempty"`  // how to fix it
}

// String returns the problem on one line, place first:
//
//	orders.asl.json:12:9: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, "%d:%d: %s", d.Line, d.Column, d.Message)
	if d.Fix != "" {
		fmt.Fprintf(&b, " (%s)", d.Fix)
	}
	return b.String()
}

// Diagnostics are all problems of a definition, or the problems that keep it from being
// run, in the order of the text.
//
//nolint:errname // it is the plural, and reads as English
type Diagnostics []Diagnostic

// Error returns the problems, one to a line.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, p := range ds {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Legal reports whether the definition is legal, that is, whether none is a
// [SeverityError].
func (ds Diagnostics) Legal() bool {
	return !slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// Of returns the problems of the given severities.
func (ds Diagnostics) Of(severities ...Severity) Diagnostics {
	var out Diagnostics
	for _, p := range ds {
		if slices.Contains(severities, p.Severity) {
			out = append(out, p)
		}
	}
	return out
}
