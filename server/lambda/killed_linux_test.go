package lambda_test

import (
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/internal/childtest"
)

// TestFunctionsDieWithEbb kills the server while a function runs: none of the function's processes is left.
//
// Attack (Programs): `kill -9` of Ebb while a Lambda function runs, with a process in a session of its own.
// Result: On Linux, none is left.
func TestFunctionsDieWithEbb(t *testing.T) {
	t.Parallel()
	f := bootstrapped(t, "Hang")
	child := childtest.Start(t, serverFolder+"="+f.Code)
	hung := filepath.Join(f.Code, "hung")
	waitFor(t, "the function runs", func() bool { return lives(pidIn(hung)) })
	child.Kill()
	waitFor(t, "the function's processes are gone", func() bool { return !lives(pidIn(hung)) })
}
