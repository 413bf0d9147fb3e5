package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A shape says which tasks of a flow need which others, by number.
type shape struct {
	name  string
	needs func(n int) [][]int
	flow  func(nodes []flow.Node, needs [][]int) flow.Node
}

var shapes = []shape{
	{"linear", chained, func(nodes []flow.Node, _ [][]int) flow.Node { return flow.Linear("f", nodes...) }},
	{"unordered", func(n int) [][]int { return make([][]int, n) }, func(nodes []flow.Node, _ [][]int) flow.Node {
		return flow.Unordered("f", nodes...)
	}},
	{"layers", layers, func(nodes []flow.Node, needs [][]int) flow.Node {
		g := flow.Graph("f", nodes...)
		for i := range needs {
			for _, before := range needs[i] {
				g.Link(nodes[before], nodes[i])
			}
		}
		return g
	}},
}

func chained(n int) [][]int {
	needs := make([][]int, n)
	for i := 1; i < n; i++ {
		needs[i] = []int{i - 1}
	}
	return needs
}

// layers have 32 tasks each. Each task needs all tasks of the layer before.
func layers(n int) [][]int {
	const wide = 32
	needs := make([][]int, n)
	for i := range needs {
		for before := max(0, i-i%wide-wide); before < i-i%wide; before++ {
			needs[i] = append(needs[i], before)
		}
	}
	return needs
}

// bare runs tasks that need others, with a goroutine and a channel for each. It stores nothing, and cannot undo
// anything.
func bare(needs [][]int) {
	done := make([]chan struct{}, len(needs))
	for i := range done {
		done[i] = make(chan struct{})
	}
	for i := range needs {
		go func() {
			for _, n := range needs[i] {
				<-done[n]
			}
			close(done[i])
		}()
	}
	for i := range done {
		<-done[i]
	}
}

// BenchmarkBesideBare runs flows of no-op tasks, and of tasks with a struct of three fields as input and output, in
// memory. In turns, it runs the same shape without an engine, see bare. It does not measure compiling and deleting the
// run. ns/task and the ratio to the bare shape come from the fastest run of each, because other work on the machine
// only adds time. cpu-ns/task and cpu-ratio come from all runs, and include garbage collection on other processors.
func BenchmarkBesideBare(b *testing.B) {
	for _, n := range []int{1024, 32_768, 1_000_000} {
		for _, s := range shapes {
			for _, structs := range []bool{false, true} {
				kind := map[bool]string{false: "noop", true: "struct"}[structs]
				b.Run(fmt.Sprintf("%s/%s/%d", s.name, kind, n), func(b *testing.B) {
					if s.name == "layers" && (structs || n > 100_000) {
						b.Skip("each field would have 32 providers, and a million tasks 32 million links")
					}
					needs := s.needs(n)
					beside(b, s.flow(tasks(n, structs), needs), needs)
				})
			}
		}
	}
}

// beside measures runs of a flow and bare runs of the same shape, in turns of at least a twentieth of a second.
func beside(b *testing.B, f flow.Node, needs [][]int) {
	b.Helper()
	store := memstore.New()
	eng, err := engine.New(f, store, seed("id"), seed("count"), seed("paid"))
	if err != nil {
		b.Fatal(err)
	}
	run := func() {
		if _, err := eng.Run(b.Context(), "r"); err != nil {
			b.Fatal(err)
		}
	}
	purge := func() {
		if _, err := store.Purge(b.Context(), "r"); err != nil {
			b.Fatal(err)
		}
	}
	var ours, theirs cost
	for b.Loop() {
		theirs.turn(func() { bare(needs) }, func() {})
		ours.turn(run, purge)
	}
	n := float64(len(needs))
	b.ReportMetric(float64(ours.fastest)/n, "ns/task")
	b.ReportMetric(float64(ours.fastest)/float64(theirs.fastest), "ratio")
	b.ReportMetric(ours.cpu()/n, "cpu-ns/task")
	b.ReportMetric(ours.cpu()/theirs.cpu(), "cpu-ratio")
	b.ReportMetric(float64(ours.allocs)/float64(ours.times)/n, "allocs/task")
	b.ReportMetric(float64(ours.bytes)/float64(ours.times)/n, "B/task")
	b.ReportMetric(0, "ns/op") // would include both
}

// A cost is what work cost.
type cost struct {
	times         int
	fastest, used time.Duration // CPU time of the whole process
	allocs, bytes uint64
}

// turn repeats the work for at least a tenth of a second. Its allocations and time include cleanup.
func (c *cost) turn(work, tidy func()) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	used := cpuTime()
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; c.times++ {
		start := time.Now()
		work()
		if took := time.Since(start); c.fastest == 0 || took < c.fastest {
			c.fastest = took
		}
		tidy()
	}
	c.used += cpuTime() - used
	runtime.ReadMemStats(&after)
	c.allocs += after.Mallocs - before.Mallocs
	c.bytes += after.TotalAlloc - before.TotalAlloc
}

func (c *cost) cpu() float64 { return float64(c.used.Nanoseconds()) / float64(c.times) }

// seed gives the first task of a chain its input. It is a provider and not an input, because an input would take
// precedence over the tasks in between.
func seed(name string) engine.Option {
	switch name {
	case "id":
		return engine.With(atom.NewKey[string](name), "o-1")
	case "count":
		return engine.With(atom.NewKey[int](name), 1)
	default:
		return engine.With(atom.NewKey[bool](name), false)
	}
}
