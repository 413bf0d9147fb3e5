package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// The tests of scale measure on a SQLite file with synchronous=FULL, and log
// what they find. How large they are says EBB_SCALE: so many steps, tasks, and
// waiting runs. What depends on the time that the machine has for them is an error
// only then: EBB_SCALE=1000000 go test ./engine -run TestScale -v -timeout 0
// Without EBB_SCALE they run in CI only, and syncs cost nothing, as waiting for the disk shows nothing.

// scale returns EBB_SCALE, or a number that is enough to see that nothing grows.
func scale(t *testing.T, few int) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("EBB_SCALE")); err == nil {
		return n
	}
	longtest.Needs(t)
	return few
}

// measured reports whether figures are wanted.
func measured() bool { return os.Getenv("EBB_SCALE") != "" }

func openScale(t *testing.T) (store *sqlstore.Store, file string) {
	t.Helper()
	dir := t.TempDir()
	if !measured() {
		dir = crashdisk.Careless(t)
	}
	file = filepath.Join(dir, "ebb.db")
	store, err := sqlstore.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, file
}

// liveHeap returns the number of bytes in use after a collection.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

const mib = 1 << 20

// resident returns the present and the largest memory of the process in MiB, or 0 if the system does not say.
func resident() (now, peak int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	kib := func(name string) int64 {
		_, rest, _ := strings.Cut(string(status), name+":")
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return 0
		}
		n, _ := strconv.ParseInt(fields[0], 10, 64)
		return n
	}
	return kib("VmRSS") >> 10, kib("VmHWM") >> 10
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	sum := int64(0)
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(file + suffix); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// stepwise is a language that adds one task after the other, up to a number.
type stepwise struct {
	steps   int
	reverts bool
}

// Grow counts in the memory of the flow.
func (l stepwise) Grow(ask *grow.Ask) grow.Growth {
	n, _ := strconv.Atoi(ask.Memory.String())
	if n == l.steps {
		return done(nil)
	}
	spec := grow.Spec{Name: "step" + strconv.Itoa(n), Task: "do", Input: atom.MustEncode(n)}
	if l.reverts {
		spec.Undo = &grow.Undo{Task: "undo"}
	}
	return grow.Growth{Memory: atom.FromJSON(strconv.AppendInt(nil, int64(n+1), 10)), Add: []grow.Spec{spec}}
}

func (stepwise) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

// steps are the tasks of stepwise.
type steps struct{ each func() }

func (s steps) Task(string) (atom.Body, error) { return s, nil }

func (s steps) Execute(context.Context, atom.Values) (atom.Value, error) {
	s.each()
	return atom.Null, nil
}

func (s steps) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (steps) Reverts() bool { return true }

// TestScaleLoop lets one run execute step after step, stops it in the middle, and resumes it. The heap is not larger
// late than early, also if all steps can be undone.
func TestScaleLoop(t *testing.T) {
	n := scale(t, 10_000)
	for _, reverts := range []bool{false, true} {
		store, file := openScale(t)
		var (
			did   int
			heaps []string
			low   int64
			last  int64
			ctx   context.Context
			stop  context.CancelFunc
			again time.Time
			took  time.Duration
		)
		eng := newEngine(t, flow.Growing("loop", stepwise{n, reverts}), engine.WithStore(store), engine.WithTasks(steps{func() {
			if !again.IsZero() {
				took, again = time.Since(again), time.Time{}
			}
			switch did++; did {
			case n / 2:
				stop()
			case n / 100, n / 10, n:
				heap := liveHeap()
				heaps = append(heaps, fmt.Sprintf("%.1f MiB after %d", float64(heap)/mib, did))
				if low == 0 || heap < low {
					low = heap
				}
				last = heap // memory of earlier tests is freed meanwhile, so only growth counts
			}
		}}))
		ctx, stop = context.WithCancel(t.Context())
		defer stop()
		begun := time.Now()
		_, err := eng.Run(ctx, "r")
		if !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		again = time.Now()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		whole := time.Since(begun)
		t.Logf("%d steps, with revert %v: live heap %s; %.0f steps/s, %d B a step on disk; gone on with from the middle after %v",
			n, reverts, strings.Join(heaps, ", "), float64(n)/whole.Seconds(), sizeOf(t, file)/int64(n), took.Round(time.Microsecond))
		if last-low > 8*mib {
			t.Errorf("the live heap grew by %d MiB", (last-low)/mib)
		}
		if measured() && took > 100*time.Millisecond {
			t.Errorf("it took %v to go on", took)
		}
	}
}

// TestScaleTasks runs one flow of many tasks.
func TestScaleTasks(t *testing.T) {
	n := scale(t, 5_000)
	store, file := openScale(t)
	before := liveHeap()
	eng := newEngine(t, flow.Unordered("f", tasks(n, false)...), engine.WithStore(store))
	compiled := liveHeap()
	begun := time.Now()
	res, err := eng.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begun)
	after := liveHeap()
	runtime.KeepAlive(eng)
	runtime.KeepAlive(res)
	_, peak := resident()
	t.Logf("%d tasks: %d B of live heap a task compiled, %d B with its run; %.0f tasks/s, %d B a task on disk, at most %d MiB resident",
		n, (compiled-before)/int64(n), (after-before)/int64(n), float64(n)/whole.Seconds(), sizeOf(t, file)/int64(n), peak)
}

// TestScaleWaiting creates many runs that wait, and wakes them.
func TestScaleWaiting(t *testing.T) {
	n := scale(t, 2_000)
	store, file := openScale(t)
	payload := atom.MustEncode(map[string]string{"order": strings.Repeat("x", 187)})
	var ended, waits atomic.Int64
	root := flow.Linear("f", atom.Awaits[map[string]string]("wait", "go", atom.Deferral{}))
	eng := newEngine(t, root, engine.WithStore(store), engine.WithObserver(func(ev engine.Event) {
		switch {
		case ev.Kind == engine.FlowChanged && ev.To == "SUCCESS":
			ended.Add(1)
		case ev.Kind == engine.AtomChanged && ev.To == "RUNNING":
			waits.Add(1)
		}
	}))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- eng.Serve(ctx) }()

	cpu := cpuTime()
	begun := time.Now()
	together(t, n, func(id string) error { return eng.Start(t.Context(), id, engine.Input(payload)) })
	started := time.Since(begun)
	for {
		if due, err := store.Runs(t.Context(), storage.RunQuery{Due: time.Now(), Limit: 1}); err != nil {
			t.Fatal(err)
		} else if len(due) == 0 && waits.Load() >= int64(n) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	made := time.Since(begun)
	heap := liveHeap()
	now, peak := resident()
	if each := sizeOf(t, file) / int64(n); measured() && (peak > 256 || each > 2048) {
		t.Errorf("waiting runs: %d MiB resident, want at most 256; %d B each on disk, want at most 2048", peak, each)
	}
	t.Logf("%d runs made: %.0f/s (started: %.0f/s), %.0f us of CPU a run; live heap %d MiB, resident %d MiB, at most %d MiB; %d B a run on disk",
		n, float64(n)/made.Seconds(), float64(n)/started.Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(n), heap/mib, now, peak, sizeOf(t, file)/int64(n))

	cpu = cpuTime()
	begun = time.Now()
	together(t, n, func(id string) error {
		return store.Send(t.Context(), storage.Message{Run: id, Kind: "signal", Name: "go", Body: payload})
	})
	sent := time.Since(begun)
	for ended.Load() < int64(n) {
		time.Sleep(10 * time.Millisecond)
	}
	woken := time.Since(begun)
	_, peak = resident()
	t.Logf("%d runs woken: %.0f/s (sent: %.0f/s), %.0f us of CPU a run; at most %d MiB resident; %d B a run on disk",
		n, float64(n)/woken.Seconds(), float64(n)/sent.Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(n), peak, sizeOf(t, file)/int64(n))
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// together calls do with the ids of n runs, some side by side.
func together(t *testing.T, n int, do func(id string) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := do(fmt.Sprint("run-", i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestScaleMessages sends one run message after message. The run's memory does not grow with the number of messages.
//
// Guarantee (Waiting and time): A run's live heap does not grow with received messages.
func TestScaleMessages(t *testing.T) {
	const batch = 1000
	n := max(scale(t, 100_000)/(10*batch), 2) * 10 * batch
	heard, more := 0, make(chan struct{})
	eng := newEngine(t, flow.Growing("hears", lang(func(ask *grow.Ask) grow.Growth {
		if ask.Cause.Kind == grow.Told {
			if heard++; heard == n {
				return done(nil)
			} else if heard%batch == 0 {
				more <- struct{}{}
			}
		}
		return grow.Growth{Listen: true}
	})), engine.WithCheckpoints(engine.NoHistory))
	if err := eng.Start(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		_, err := eng.Run(t.Context(), "r")
		over <- err
	}()
	messages := make([]storage.Message, batch)
	for i := range messages {
		messages[i] = storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "go"}
	}
	var early, late int64
	for sent := batch; sent <= n; sent += batch {
		if err := eng.Store().Send(t.Context(), messages...); err != nil {
			t.Fatal(err)
		}
		if sent+batch > n {
			break
		}
		<-more
		switch sent {
		case n / 10:
			early = liveHeap()
		case n - batch:
			late = liveHeap()
		}
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	t.Logf("live heap %.2f MiB after %d messages, %.2f MiB after %d", float64(early)/mib, n/10, float64(late)/mib, n-batch)
	if late-early > mib {
		t.Errorf("the live heap grew by %d KiB", (late-early)>>10)
	}
}
