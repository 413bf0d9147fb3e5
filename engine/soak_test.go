package engine_test

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/longtest"
)

// TestSoak plays random cases. Nine of ten are in memory and die at random commits. One of ten is on a SQLite file and
// resumes from images taken at random syncs. It also holds as many meetings of processes.
func TestSoak(t *testing.T) {
	longtest.Needs(t)
	n := longtest.Count(0, 300, 100_000)
	t.Run("memory", func(t *testing.T) { check(t, n-n/10, func(rt *rapid.T) { crashAnywhere(t, rt) }) })
	t.Run("meetings in memory", func(t *testing.T) { meetOften(t, n, meetInMemory) })
	t.Run("meetings on disk", func(t *testing.T) { meetOften(t, n/100, meetOnDisk) })
	t.Run("disk", func(t *testing.T) { check(t, n/10, func(rt *rapid.T) { goOnFromImages(t, rt) }) })
}

// check is rapid.Check with the given number of cases, unless rapid's flag is set: all of them in CI, usually a quarter,
// and a tenth under -short. The number belongs to the whole test binary, so its tests are not parallel.
func check(t *testing.T, times int, property func(*rapid.T)) {
	t.Helper()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if testing.Short() {
		times /= 10
	} else if !longtest.On() {
		times = (times + 3) / 4
	}
	if checks := flag.Lookup("rapid.checks").Value; !set {
		before := checks.String()
		defer func() { _ = checks.Set(before) }() // it was accepted before
		if err := checks.Set(strconv.Itoa(times)); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}
