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
	Action  string `json:"Action"`
	Package string `json:"Package"`
	Test    string `json:"Test"` // empty: the event is the package's
	Output  string `json:"Output"`
}

// tally is what a log comes to.
type tally struct {
	passed, failed int // tests, subtests, and packages that failed without a failed test
	skips          []skip
	conformance    []string

	open     map[string]map[string][]string // package, test: the lines of tests that have not ended
	failures map[string]int                 // package: its failed tests
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
		if t.open[e.Package] == nil {
			t.open[e.Package] = map[string][]string{}
		}
		t.open[e.Package][e.Test] = append(t.open[e.Package][e.Test], e.Output)
	case e.Output != "PASS\n" && e.Output != "FAIL\n": // the package's own line says it with name and time
		fmt.Fprint(course, e.Output)
	}
}

func (t *tally) endTest(e event, course io.Writer) {
	output := t.open[e.Package][e.Test]
	delete(t.open[e.Package], e.Test)
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
		t.failures[e.Package]++
		fmt.Fprint(course, strings.Join(output, ""))
	case "skip":
		t.skips = append(t.skips, skip{e.Package, e.Test, reason(output)})
	}
}

// endPackage counts a failure that is no test's: a build that broke, a process that died. The tests that were running
// then have not ended; what they wrote is printed.
func (t *tally) endPackage(e event, course io.Writer) {
	unended := t.open[e.Package]
	delete(t.open, e.Package)
	if e.Action != "fail" {
		return
	}
	if t.failures[e.Package] == 0 {
		t.failed++
	}
	for _, test := range slices.Sorted(maps.Keys(unended)) {
		fmt.Fprint(course, strings.Join(unended[test], ""))
	}
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
