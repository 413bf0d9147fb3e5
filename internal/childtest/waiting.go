package childtest

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// perCPU is the number of waiting tests that run at once for each processor.
const perCPU = 3

// Waiting runs the tests of a package that mostly wait for other processes, servers and disks. So it runs more of them
// at once than there are processors, unless -parallel sets the number.
type Waiting struct{ *testing.M }

// Run runs the tests.
func (w Waiting) Run() int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(perCPU * runtime.GOMAXPROCS(0))); err != nil {
			panic(err) // it is a number
		}
	}
	return w.M.Run()
}
