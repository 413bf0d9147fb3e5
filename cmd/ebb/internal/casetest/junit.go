package casetest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/ebbflow/ebb/internal/visible"
)

// The elements of JUnit's XML, as CI systems read it.
type (
	junitReport struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`

		real int64
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the results as XML in the form of JUnit. A case file is a suite. Times are real.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junitReport{Tests: len(r.Results), Failures: r.Failed()}
	var all int64
	for _, result := range r.Results {
		file := visible.Line(result.File)
		if n := len(out.Suites); n == 0 || out.Suites[n-1].Name != file {
			out.Suites = append(out.Suites, junitSuite{Name: file})
		}
		suite := &out.Suites[len(out.Suites)-1]
		suite.Tests++
		suite.real += result.RealMS
		all += result.RealMS
		c := junitCase{
			Name: visible.Line(result.Case), Class: file, File: file, Line: result.Line,
			Time: seconds(result.RealMS),
		}
		if !result.Passed {
			suite.Failures++
			c.Failure = &junitFailure{Message: result.why(), Type: "mismatch", Text: result.details()}
		}
		suite.Cases = append(suite.Cases, c)
	}
	for i := range out.Suites {
		out.Suites[i].Time = seconds(out.Suites[i].real)
	}
	out.Time = seconds(all)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }

// why returns the reason why a case failed, on one line.
func (r *Result) why() string {
	if len(r.Mismatches) > 0 {
		return visible.Line(r.Mismatches[0].What)
	}
	return count(r.FailAt.Bad(), "finding") + " of --fail-at"
}

// details returns the mismatches, and what failures and crashes leave, one on each line.
func (r *Result) details() string {
	var b strings.Builder
	for _, m := range r.Mismatches {
		b.WriteString(visible.Line(r.place(m)) + "\n")
	}
	if r.FailAt != nil {
		b.WriteString(r.FailAt.text())
	}
	return b.String()
}
