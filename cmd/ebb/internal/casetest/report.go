package casetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/visible"
)

// A Report is the results of all cases, and what they cover.
type Report struct {
	Results  []*Result
	Coverage []*Coverage // of each definition, once
}

// NewReport returns a report without results. Case files of the same definition share its coverage.
func NewReport(suites []*Suite) *Report {
	r := &Report{}
	by := map[string]*Coverage{}
	for _, s := range suites {
		if c := by[s.File.Definition]; c != nil {
			s.Coverage = c
			continue
		}
		by[s.File.Definition] = s.Coverage
		r.Coverage = append(r.Coverage, s.Coverage)
	}
	return r
}

// Add adds the result of a case.
func (r *Report) Add(result *Result) { r.Results = append(r.Results, result) }

// Failed returns how many cases failed.
func (r *Report) Failed() int {
	n := 0
	for _, result := range r.Results {
		if !result.Passed {
			n++
		}
	}
	return n
}

// maxUncovered is how many parts without coverage the report names for each definition.
const maxUncovered = 20

// Text returns the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	file := ""
	for _, result := range r.Results {
		if result.File != file {
			file = result.File
			b.WriteString(visible.Line(file) + "\n")
		}
		mark := "✗"
		if result.Passed {
			mark = "✓"
		}
		fmt.Fprintf(&b, "  %s %s", mark, visible.Line(result.Case))
		if took := time.Duration(result.VirtualMS) * time.Millisecond; took >= time.Second {
			fmt.Fprintf(&b, " (%v of virtual time)", took.Round(time.Second))
		}
		b.WriteString("\n")
		for line := range strings.Lines(result.details()) {
			b.WriteString("      " + line)
		}
	}
	fmt.Fprintf(&b, "%s: %d passed, %d failed\n", count(len(r.Results), "case"), len(r.Results)-r.Failed(), r.Failed())
	for _, c := range r.Coverage {
		b.WriteString(c.text())
	}
	return b.String()
}

// text describes which parts of a definition are covered.
func (c *Coverage) text() string {
	var counts []string
	for _, n := range c.Counts() {
		counts = append(counts, fmt.Sprintf("%s %d/%d", plural(n.Kind), n.Covered, n.All))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "coverage of %s: %s (%d %%)\n", visible.Line(c.Def.Source.File), strings.Join(counts, ", "),
		int(c.Percent()))
	for i, part := range c.uncovered() {
		if i == maxUncovered {
			fmt.Fprintf(&b, "  and %d more\n", len(c.uncovered())-i)
			break
		}
		at, _ := c.Def.Place(part.At)
		b.WriteString(visible.Line(fmt.Sprintf("  not covered: %s:%d:%d: %s %s", c.Def.Source.File, at.Line, at.Column,
			part.Kind, title(part))) + "\n")
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %s", n, plural(what))
}

func plural(what string) string { return what + "s" }

// A reportObject is the report in JSON.
type reportObject struct {
	Passed   int              `json:"passed"`
	Failed   int              `json:"failed"`
	Cases    []*Result        `json:"cases"`
	Coverage []coverageObject `json:"coverage"`
}

type coverageObject struct {
	Definition string       `json:"definition"`
	Percent    float64      `json:"percent"`
	Counts     []Count      `json:"counts"`
	Parts      []partObject `json:"parts"`
}

type partObject struct {
	Kind   string `json:"kind"`
	State  string `json:"state"`
	Label  string `json:"label,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Hits   int64  `json:"hits"`
}

// Object returns the report as it is written in JSON.
func (r *Report) Object() any {
	o := reportObject{
		Passed: len(r.Results) - r.Failed(), Failed: r.Failed(), Cases: r.Results,
		Coverage: []coverageObject{},
	}
	for _, c := range r.Coverage {
		of := coverageObject{Definition: c.Def.Source.File, Percent: c.Percent(), Counts: c.Counts(), Parts: []partObject{}}
		for _, part := range c.Parts {
			at, _ := c.Def.Place(part.At)
			of.Parts = append(of.Parts, partObject{part.Kind.String(), part.State, part.Label, at.Line, at.Column, c.Hits(part)})
		}
		o.Coverage = append(o.Coverage, of)
	}
	return o
}
