package engine_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestSoak plays EBB_SOAK random cases, for as long as they take. Nine of ten are in memory and die at random commits.
// One of ten is on a SQLite file and resumes from images taken at random syncs. It also holds as many meetings of
// processes.
func TestSoak(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("EBB_SOAK"))
	if err != nil {
		t.Skip("plays EBB_SOAK random cases; make soak sets it")
	}
	t.Run("memory", func(t *testing.T) { check(t, n-n/10, func(rt *rapid.T) { crashAnywhere(t, rt) }) })
	t.Run("meetings in memory", func(t *testing.T) { meetOften(t, n, meetInMemory) })
	t.Run("meetings on disk", func(t *testing.T) { meetOften(t, n/100, meetOnDisk) })
	t.Run("disk", func(t *testing.T) { check(t, n/10, func(rt *rapid.T) { goOnFromImages(t, rt) }) })
}

// check is rapid.Check with the given number of cases, a tenth of them under -short, unless rapid's flag is set. The
// number belongs to the whole test binary, so its tests are not parallel.
func check(t *testing.T, times int, property func(*rapid.T)) {
	t.Helper()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if testing.Short() {
		times /= 10
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
