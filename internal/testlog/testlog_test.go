package main

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// good is the log of a package with a passing test, its subtest, and a skipped one.
const good = `
{"Action":"start","Package":"good"}
{"Action":"run","Package":"good","Test":"TestA"}
{"Action":"output","Package":"good","Test":"TestA/sub","Output":"    a_test.go:3: conformance choice: 10 of 10\n"}
{"Action":"pass","Package":"good","Test":"TestA/sub"}
{"Action":"pass","Package":"good","Test":"TestA"}
{"Action":"output","Package":"good","Test":"TestB","Output":"    b_test.go:3: not today\n"}
{"Action":"output","Package":"good","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"good","Test":"TestB"}
{"Action":"output","Package":"good","Output":"PASS\n"}
{"Action":"output","Package":"good","Output":"ok  \tgood\t0.1s\n"}
{"Action":"pass","Package":"good"}
`

// bad is the log of a test that fails, a package that does not build, and a process that dies in a test.
const bad = `
{"Action":"output","Package":"bad","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"bad","Test":"TestC","Output":"    c_test.go:3: one is not two\n"}
{"Action":"fail","Package":"bad","Test":"TestC"}
{"Action":"output","Package":"bad","Output":"FAIL\n"}
{"Action":"output","Package":"bad","Output":"FAIL\tbad\t0.1s\n"}
{"Action":"fail","Package":"bad"}
{"ImportPath":"broken","Action":"build-output","Output":"d.go:1: undefined: d\n"}
{"ImportPath":"broken","Action":"build-fail"}
{"Action":"fail","Package":"broken"}
` + dead + `go: a line that is not JSON
`

// dead is the log of a process that dies in a test.
const dead = `{"Action":"output","Package":"dead","Test":"TestE","Output":"panic: e\n"}
{"Action":"fail","Package":"dead"}
`

// needy is the log of a test that lacks a service.
const needy = `
{"Action":"pass","Package":"needy","Test":"TestF"}
{"Action":"output","Package":"needy","Test":"TestG","Output":"    g_test.go:3: needs SERVICE: no server\n"}
{"Action":"skip","Package":"needy","Test":"TestG"}
`

func TestRun(t *testing.T) {
	t.Setenv("EBB_TEST_POSTGRES", "here")
	t.Setenv("EBB_CONFORMANCE", filepath.Join(t.TempDir(), "nothing"))
	for _, c := range []struct {
		name, command, log, want string
		err                      error
	}{
		{"watch good", "watch", good, "ok  \tgood\t0.1s\n", nil},
		{
			"watch bad", "watch", bad,
			"    c_test.go:3: one is not two\nFAIL\tbad\t0.1s\nd.go:1: undefined: d\npanic: e\ngo: a line that is not JSON\n",
			nil,
		},
		{
			"summary good", "summary", good,
			"skipped: good: TestB: not today\nconformance choice: 10 of 10\n2 passed, 0 failed, 1 skipped\n", nil,
		},
		{
			"summary bad", "summary", good + bad,
			"FAILED: bad TestC\n    c_test.go:3: one is not two\nFAILED: broken\nd.go:1: undefined: d\nFAILED: dead TestE\npanic: e\n" +
				"skipped: good: TestB: not today\nconformance choice: 10 of 10\n2 passed, 3 failed, 1 skipped\n", errNotPassed,
		},
		{"failed", "failed", good + bad, "bad\nbroken\ndead\n", nil},
		{
			"summary of a second run", "summary", good + dead + strings.ReplaceAll(good, `"good"`, `"dead"`),
			"UNSTEADY, it passed when it was run again: dead TestE\npanic: e\n" +
				"skipped: good: TestB: not today\nskipped: dead: TestB: not today\n" +
				"conformance choice: 10 of 10\nconformance choice: 10 of 10\n4 passed, 0 failed, 2 skipped\n", nil,
		},
		{
			"summary of a second failure", "summary", good + dead + dead,
			"FAILED: dead TestE\npanic: e\n" +
				"skipped: good: TestB: not today\nconformance choice: 10 of 10\n2 passed, 1 failed, 1 skipped\n", errNotPassed,
		},
		{
			"summary of much", "summary", strings.Repeat(`{"Action":"output","Package":"p","Test":"TestM","Output":"m\n"}`+"\n",
				100) +
				`{"Action":"fail","Package":"p","Test":"TestM"}` + "\n" + good,
			"FAILED: p TestM\n" + strings.Repeat("m\n", 20) + "    … 40 lines that stand above\n" + strings.Repeat("m\n", 40) +
				"skipped: good: TestB: not today\nconformance choice: 10 of 10\n2 passed, 1 failed, 1 skipped\n", errNotPassed,
		},
		{
			"summary of nothing", "summary", "",
			"FAIL: no test passed: is this the output of go test -json?\n0 passed, 0 failed, 0 skipped\n", errNotPassed,
		},
		{
			"a service that is here", "summary", strings.ReplaceAll(needy, "SERVICE", "postgres"),
			"skipped: needy: TestG: needs postgres: no server\nFAIL: it should have run: EBB_TEST_POSTGRES is set\n1 passed, 0 failed, 1 skipped\n", errNotPassed,
		},
		{
			"a service that is not here", "summary", strings.ReplaceAll(needy, "SERVICE", "conformance"),
			"skipped: needy: TestG: needs conformance: no server\n1 passed, 0 failed, 1 skipped\n", nil,
		},
		{
			"a service unheard of", "summary", strings.ReplaceAll(needy, "SERVICE", "etcd"),
			"skipped: needy: TestG: needs etcd: no server\n" +
				"FAIL: it should have run: cannot look for etcd: add it to internal/testlog/services.go\n" +
				"1 passed, 0 failed, 1 skipped\n", errNotPassed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := run([]string{c.command}, strings.NewReader(strings.TrimLeft(c.log, "\n")), &out); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
	if err := run(nil, nil, nil); err == nil {
		t.Error("no argument: no error")
	}
}

func TestServices(t *testing.T) {
	t.Setenv("EBB_TEST_INITDB", "here")
	if got, want := whereIs("initdb"), "EBB_TEST_INITDB is set"; got != want {
		t.Errorf("initdb: %q, want %q", got, want)
	}
	folder := t.TempDir()
	t.Setenv("EBB_CONFORMANCE", folder)
	if got, want := whereIs("conformance"), folder+" is here"; got != want {
		t.Errorf("conformance: %q, want %q", got, want)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	here := address{"tcp", listener.Addr().String()}
	if got, want := answering([]address{{"unix", filepath.Join(folder, "socket")}, here}), here.at; got != want {
		t.Errorf("with a server: %q answers, want %q", got, want)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if got := answering([]address{here}); got != "" {
		t.Errorf("without a server: %q answers", got)
	}
}
