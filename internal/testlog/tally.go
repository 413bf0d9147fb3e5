package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is one line of `go test -json`, as `go doc test2json` has it.
type event struct {
	Action     string `json:"Action"`
	Package    string `json:"Package"`
	ImportPath string `json:"ImportPath"` // of a package that is built, instead of Package
	Test       string `json:"Test"`       // empty: the event is the package's
	Output     string `json:"Output"`
}

// tally is what a log comes to.
type tally struct {
	passed, failed int // tests, subtests, and packages that failed without a failed test
	skips          []skip
	faults         []fault
	conformance    []string

	open     map[string]map[string][]string // package, test: the lines of tests that have not ended
	failures map[string]int                 // package: its failed tests
}

// fault is a test, or the build of a package, that failed.
type fault struct {
	pkg, test string
	output    []string
}

// skip is a test that did not run.
type skip struct {
	pkg, test, reason string
}

var (
	// logged is a line that a test wrote with t.Log or t.Skip; the group is what it said.
	logged = regexp.MustCompile(`^\s*\S+\.go:\d+: (.*)`)
	// conformed is a line in which a test reports its conformance.
	conformed = regexp.MustCompile(`^\s*(?:\S+\.go:\d+: )?(conformance .*)`)
	// needed is the reason of a test that misses a service; the group is its name.
	needed = regexp.MustCompile(`^needs ([\w-]+):`)
)

// needs returns the service for want of which the test was skipped, or nothing.
func (s skip) needs() string {
	if match := needed.FindStringSubmatch(s.reason); match != nil {
		return match[1]
	}
	return ""
}

// read consumes a log to its end and prints its course: a line for each package, all output of what failed, and as it
// stands what is not JSON.
func read(log io.Reader, course io.Writer) (*tally, error) {
	t := &tally{open: map[string]map[string][]string{}, failures: map[string]int{}}
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

// add counts one event.
func (t *tally) add(e event, course io.Writer) {
	switch e.Action {
	case "output":
		t.addOutput(e, course)
	case "build-output":
		fmt.Fprint(course, e.Output)
		t.output(e.ImportPath, "", e.Output)
	case "build-fail":
		t.faulty(e.ImportPath, "")
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(e, course)
		} else {
			t.endTest(e, course)
		}
	}
}

func (t *tally) addOutput(e event, course io.Writer) {
	if match := conformed.FindStringSubmatch(e.Output); match != nil {
		t.conformance = append(t.conformance, match[1])
	}
	switch {
	case strings.HasPrefix(e.Output, "=== "): // a test starts, waits or goes on
	case e.Test != "":
		t.output(e.Package, e.Test, e.Output)
	case e.Output != "PASS\n" && e.Output != "FAIL\n": // the package's own line says it with name and time
		fmt.Fprint(course, e.Output)
	}
}

func (t *tally) output(pkg, test, line string) {
	if t.open[pkg] == nil {
		t.open[pkg] = map[string][]string{}
	}
	t.open[pkg][test] = append(t.open[pkg][test], line)
}

// take returns what a test wrote, and forgets it.
func (t *tally) take(pkg, test string) []string {
	output := t.open[pkg][test]
	delete(t.open[pkg], test)
	return output
}

// faulty notes a failure, and returns what the test wrote.
func (t *tally) faulty(pkg, test string) []string {
	output := t.take(pkg, test)
	t.faults = append(t.faults, fault{pkg, test, output})
	return output
}

func (t *tally) endTest(e event, course io.Writer) {
	switch e.Action {
	case "pass":
		t.passed++
		t.take(e.Package, e.Test)
	case "fail":
		t.failed++
		t.failures[e.Package]++
		fmt.Fprint(course, strings.Join(t.faulty(e.Package, e.Test), ""))
	case "skip":
		t.skips = append(t.skips, skip{e.Package, e.Test, reason(t.take(e.Package, e.Test))})
	}
}

// endPackage counts a failure that is no test's: a build that broke, a process that died. The tests that were running
// then have not ended; what they wrote is printed.
func (t *tally) endPackage(e event, course io.Writer) {
	if e.Action != "fail" {
		delete(t.open, e.Package)
		return
	}
	if t.failures[e.Package] == 0 {
		t.failed++
	}
	for _, test := range slices.Sorted(maps.Keys(t.open[e.Package])) {
		fmt.Fprint(course, strings.Join(t.faulty(e.Package, test), ""))
	}
}

// lines of a failed test's output that the summary repeats, from its beginning and its end.
const (
	firstLines = 20
	lastLines  = 40
)

// tell prints whose failure it is, and what the test wrote: of much only the beginning and the end.
func (f *fault) tell(out io.Writer) {
	fmt.Fprintln(out, "FAILED:", strings.TrimSpace(f.pkg+" "+f.test))
	lines := strings.SplitAfter(strings.Join(f.output, ""), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	if left := len(lines) - firstLines - lastLines; left > 0 {
		gap := fmt.Sprintf("    … %d lines that stand above\n", left)
		lines = slices.Concat(lines[:firstLines], []string{gap}, lines[len(lines)-lastLines:])
	}
	fmt.Fprint(out, strings.Join(lines, ""))
}

// reason returns what a skipped test said last.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		if match := logged.FindStringSubmatch(line); match != nil {
			return strings.TrimSpace(match[1])
		}
	}
	return "no reason given"
}
