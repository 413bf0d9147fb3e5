// Testlog reads what `go test -json` prints. It is a command of .ci/run:
//
//	go test -json work | tee log | testlog watch
//	testlog failed <log
//	testlog summary <log
//
// Watch prints a line for each package and the output of each failed test while the tests run. Failed prints the names
// of the packages that failed, a line each. A log may have two runs of a package, one after the other. The last one
// counts, and the summary names what failed in the first as unsteady.
//
// Summary prints the failed tests with at most 60 lines of their output, the skipped tests with the reason, and the
// lines in which tests report their conformance. Its last line is "N passed, M failed, K skipped", which counts
// subtests, too.
//
// Summary exits with 1 if a test failed, if none passed, or if one was skipped for want of a service that is here. A
// test that does not find a service skips with "needs <service>: …". On a machine that has the service, such a skip is
// an oversight. services.go lists the services.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err == nil {
		return
	}
	if !errors.Is(err, errNotPassed) {
		fmt.Fprintln(os.Stderr, "testlog:", err)
	}
	os.Exit(1)
}

// errNotPassed is returned after a summary of tests that did not pass.
var errNotPassed = errors.New("the tests did not pass")

func run(args []string, in io.Reader, out io.Writer) error {
	switch strings.Join(args, " ") {
	case "watch":
		_, err := read(in, out)
		return err
	case "failed":
		t, err := read(in, io.Discard)
		if err != nil {
			return err
		}
		for name, r := range t.results() {
			if r.failed > 0 {
				fmt.Fprintln(out, name)
			}
		}
		return nil
	case "summary":
		t, err := read(in, io.Discard)
		if err != nil {
			return err
		}
		return summarize(t, out)
	default:
		return fmt.Errorf("want one argument, watch, failed or summary, not %q", args)
	}
}

// summarize prints a tally, and its sum on the last line. It returns errNotPassed if the tests did not pass.
func summarize(t *tally, out io.Writer) error {
	passed, failed, skipped, oversights := 0, 0, 0, 0
	for _, r := range t.results() {
		passed, failed, skipped = passed+r.passed, failed+r.failed, skipped+len(r.skips)
		for i := range r.faults {
			r.faults[i].tell(out, "FAILED:")
		}
		if r.failed == 0 && len(r.faults) == 0 {
			for i := range r.before {
				r.before[i].tell(out, "UNSTEADY, it passed when it was run again:")
			}
		}
	}
	for _, r := range t.results() {
		for _, s := range r.skips {
			fmt.Fprintf(out, "skipped: %s: %s: %s\n", s.pkg, s.test, s.reason)
			if service := s.needs(); service != "" {
				if where := whereIs(service); where != "" {
					oversights++
					fmt.Fprintf(out, "FAIL: it should have run: %s\n", where)
				}
			}
		}
	}
	for _, r := range t.results() {
		for _, line := range r.conformance {
			fmt.Fprintln(out, line)
		}
	}
	if passed == 0 {
		fmt.Fprintln(out, "FAIL: no test passed: is this the output of go test -json?")
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || passed == 0 || oversights > 0 {
		return errNotPassed
	}
	return nil
}
