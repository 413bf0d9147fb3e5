package swf_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// servedVariable names the database that a child process of the tests serves.
const servedVariable = "EBB_TEST_SWF_SERVES"

var update = flag.Bool("update", false, "write the faults of docs/reference/swf-tests.md instead of comparing them")

func TestMain(m *testing.M) {
	if dsn := os.Getenv(servedVariable); dsn != "" {
		serveAlone(dsn)
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		chosen := func(name string) bool { f := flag.Lookup("test." + name); return f != nil && f.Value.String() != "" }
		if code == 0 && !chosen("run") && !chosen("skip") && !chosen("list") && !chosen("fuzz") {
			if err := compareFaults(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}
