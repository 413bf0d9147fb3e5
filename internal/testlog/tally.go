package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An event is a line of `go test -json`, see `go doc test2json`.
type event struct {
	Action     string `json:"Action"`
	Package    string `json:"Package"`
	ImportPath string `json:"ImportPath"` // of a package that is built, in place of Package
	Test       string `json:"Test"`       // "" for an event of the package
	Output     string `json:"Output"`
}

// A tally is the sum of a log: the results of each package's last run.
type tally struct {
	packages map[string]*result
	order    []string // of packages, in order of appearance
}

// A result is the sum of a package's tests, or of its build.
type result struct {
	passed, failed int // tests and subtests, and the package if it failed without a failed test
	skips          []skip
	faults         []fault
	before         []fault // failures in the run before
	conformance    []string

	open  map[string][]string // by test: the lines of a test that has not ended
	ended bool
}

// build precedes the import path in the name of a build's result. The package that was not built also fails.
const build = "build of "

// A fault is a test that failed, or a package whose build failed.
type fault struct {
	pkg, test string
	output    []string
}

// A skip is a test that was skipped.
type skip struct {
	pkg, test, reason string
}

var (
	// logged finds a line that a test wrote with t.Log or t.Skip. The group is its text.
	logged = regexp.MustCompile(`^\s*\S+\.go:\d+: (.*)`)
	// conformed finds a line in which a test reports its conformance.
	conformed = regexp.MustCompile(`^\s*(?:\S+\.go:\d+: )?(conformance .*)`)
	// needed finds the reason of a test that lacks a service. The group is the service's name.
	needed = regexp.MustCompile(`^needs ([\w-]+):`)
)

// needs returns the service whose lack skipped the test, or "".
func (s skip) needs() string {
	if match := needed.FindStringSubmatch(s.reason); match != nil {
		return match[1]
	}
	return ""
}

// read reads a log to its end. It prints a line for each package, all output of failures, and lines that are not JSON
// unchanged.
func read(log io.Reader, course io.Writer) (*tally, error) {
	t := &tally{packages: map[string]*result{}}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if line != "" && json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(course, line)
		} else {
			t.add(e, course)
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the log: %w", err)
		}
	}
}

// of returns the result of a package, or of a build. If a package that ended appears again, it runs again, and only its
// last run counts. A test that failed before and passes now is unsteady.
func (t *tally) of(name string) *result {
	r, known := t.packages[name]
	if !known {
		t.order = append(t.order, name)
	}
	if !known || r.ended {
		again := &result{open: map[string][]string{}}
		if known {
			again.before = r.faults
		}
		t.packages[name], r = again, again
	}
	return r
}

// results returns the results of all packages, in order.
func (t *tally) results() iter.Seq2[string, *result] {
	return func(yield func(string, *result) bool) {
		for _, name := range t.order {
			if !yield(name, t.packages[name]) {
				return
			}
		}
	}
}

// add counts one event.
func (t *tally) add(e event, course io.Writer) {
	switch e.Action {
	case "start":
		t.of(e.Package)
	case "output":
		t.of(e.Package).addOutput(e, course)
	case "build-output":
		fmt.Fprint(course, e.Output)
		t.of(build+e.ImportPath).output("", e.Output)
	case "build-fail":
		r := t.of(build + e.ImportPath)
		r.faulty(fault{pkg: e.ImportPath})
		r.ended = true
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.of(e.Package).endPackage(e, course)
		} else {
			t.of(e.Package).endTest(e, course)
		}
	}
}

func (r *result) addOutput(e event, course io.Writer) {
	if match := conformed.FindStringSubmatch(e.Output); match != nil {
		r.conformance = append(r.conformance, match[1])
	}
	switch {
	case strings.HasPrefix(e.Output, "=== "): // a test starts, waits or continues
	case e.Test != "":
		r.output(e.Test, e.Output)
	case e.Output != "PASS\n" && e.Output != "FAIL\n": // the package's own line has its name and time
		fmt.Fprint(course, e.Output)
	}
}

func (r *result) output(test, line string) { r.open[test] = append(r.open[test], line) }

// take returns the output of a test and forgets it.
func (r *result) take(test string) []string {
	output := r.open[test]
	delete(r.open, test)
	return output
}

// faulty records a failure, and returns the test's output.
func (r *result) faulty(f fault) []string {
	f.output = r.take(f.test)
	r.faults = append(r.faults, f)
	return f.output
}

func (r *result) endTest(e event, course io.Writer) {
	switch e.Action {
	case "pass":
		r.passed++
		r.take(e.Test)
	case "fail":
		r.failed++
		fmt.Fprint(course, strings.Join(r.faulty(fault{pkg: e.Package, test: e.Test}), ""))
	case "skip":
		r.skips = append(r.skips, skip{e.Package, e.Test, reason(r.take(e.Test))})
	}
}

// endPackage counts a failure outside of the tests: a build that failed, or a process that died. The tests that were
// running then have not ended. It prints their output.
func (r *result) endPackage(e event, course io.Writer) {
	r.ended = true
	if e.Action != "fail" {
		return
	}
	if r.failed == 0 {
		r.failed++
	}
	for _, test := range slices.Sorted(maps.Keys(r.open)) {
		fmt.Fprint(course, strings.Join(r.faulty(fault{pkg: e.Package, test: test}), ""))
	}
}

// Lines of a failed test's output that the summary repeats, from its start and its end.
const (
	firstLines = 20
	lastLines  = 40
)

// tell prints the name of a failure and the output of the test. Of a long output, it prints only the start and the end.
func (f *fault) tell(out io.Writer, verdict string) {
	fmt.Fprintln(out, verdict, strings.TrimSpace(f.pkg+" "+f.test))
	lines := strings.SplitAfter(strings.Join(f.output, ""), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	if left := len(lines) - firstLines - lastLines; left > 0 {
		gap := fmt.Sprintf("    … %d lines that stand above\n", left)
		lines = slices.Concat(lines[:firstLines], []string{gap}, lines[len(lines)-lastLines:])
	}
	fmt.Fprint(out, strings.Join(lines, ""))
}

// reason returns the last line of a skipped test.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		if match := logged.FindStringSubmatch(line); match != nil {
			return strings.TrimSpace(match[1])
		}
	}
	return "no reason given"
}
