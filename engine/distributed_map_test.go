package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	enginetasks "github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// inventory is a folder with a CSV file of the given number of lines after its header.
func inventory(t *testing.T, lines int) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,name\n")
	for i := range lines {
		fmt.Fprintf(&b, "%d,thing number %d\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "things.csv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eachThing is a distributed Map over such a file, with more fields of the Map state and the task for each item.
func eachThing(t *testing.T, fields, states string) *asl.Machine {
	t.Helper()
	m, err := asl.Parse("things", []byte(`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, `+fields+`
		"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "stock", "Key": "things.csv"},
			"ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}},
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Do", "States": {`+states+`}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	doThing     = `"Do": {"Type": "Task", "Resource": "local:do", "End": true}`
	writeThings = `"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "stock", "Prefix": "done"}},`
)

// TestDistributedMapCrash lets processes die repeatedly, at each commit in turn. In the end every item is done, and no
// item is repeated whose run had ended.
//
// Guarantee (G2): An ended item of a distributed Map does not execute again.
// Also: `cmd/ebb: TestKilledMap`.
func TestDistributedMapCrash(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{`"MaxConcurrency": 2,`, writeThings} {
		for gap := 1; gap <= 7; gap++ {
			synctest.Test(t, func(t *testing.T) { crashMap(t, fields, gap) })
		}
	}
}

const crashLines = 5

func crashMap(t *testing.T, fields string, gap int) {
	t.Helper()
	store, machine, done := memstore.New(), eachThing(t, fields, doThing), &tally{}
	dir := inventory(t, crashLines)
	registry := &enginetasks.Registry{}
	registry.AddBucket("stock", enginetasks.Folder(dir))
	registry.Add("local:do", done)
	for lives := 1; ; lives++ {
		if lives > 300 {
			t.Fatal("it does not end")
		}
		ended := done.at(endedThings(t, store))
		process := backend.Of(enginetest.DieAt(store.Join(), gap+lives)) // each lives longer, for some commits are of dying
		eng, err := engine.New(machine.Flow(), process, engine.WithTasks(registry))
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "trip")
		synctest.Wait()
		if again := done.at(ended.ids); !cmp.Equal(again.calls, ended.calls) {
			t.Fatalf("%s gap %d: runs that had ended were repeated: %v became %v", fields, gap, ended.calls, again.calls)
		}
		if _, broke := errors.AsType[*engine.StoreError](err); broke {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkThings(t, res, done, dir, fields == writeThings)
		return
	}
}

func checkThings(t *testing.T, res *engine.Result, done *tally, dir string, written bool) {
	t.Helper()
	if n := len(done.at(nil).all); n != crashLines {
		t.Errorf("%d things were done, want %d", n, crashLines)
	}
	text := res.Output().JSON()
	if written {
		found, err := filepath.Glob(filepath.Join(dir, "done", "*", "SUCCEEDED_0.json"))
		if err != nil || len(found) != 1 {
			t.Fatalf("files %v: %v", found, err)
		}
		if text, err = os.ReadFile(found[0]); err != nil {
			t.Fatal(err)
		}
	}
	var all []any
	if err := json.Unmarshal(text, &all); err != nil || len(all) != crashLines {
		t.Errorf("results %.300s: %v", text, err)
	}
}

// endedThings returns the ids of the things whose runs have ended.
func endedThings(t *testing.T, store backend.Store) []string {
	t.Helper()
	var ids []string
	for i := range crashLines {
		run, err := store.Run(t.Context(), fmt.Sprintf("trip/Each[%d]", i))
		if err == nil && run.State == states.FlowSuccess {
			ids = append(ids, strconv.Itoa(i))
		}
	}
	return ids
}

// TestScaleDistributedMap runs over two files, one of which is ten times as long. The live heap must be the same.
func TestScaleDistributedMap(t *testing.T) {
	long := scale(t, 2000)
	short := long / 10
	small, _ := mapHeap(t, short)
	large, took := mapHeap(t, long)
	t.Logf("live heap at most %.1f MiB over %d lines and %.1f MiB over %d lines; %.0f items/s",
		float64(small)/mib, short, float64(large)/mib, long, float64(long)/took.Seconds())
	// Calls in flight at the moment of a measurement count, too. A short run has few measurements, and fewer on a slow
	// machine, so it may miss them. A heap that grows with the lines is too large each time.
	for again := 0; again < 3 && large > small+4*mib; again++ {
		once, _ := mapHeap(t, short)
		small = max(small, once)
		once, _ = mapHeap(t, long)
		large = min(large, once)
	}
	if large > small+4*mib {
		t.Errorf("the heap grows with the lines: %d bytes for %d, %d bytes for %d", small, short, large, long)
	}
}

// mapHeap returns the largest live heap, beyond the initial one, during a distributed Map over the given number of
// lines.
func mapHeap(t *testing.T, lines int) (most int64, took time.Duration) {
	t.Helper()
	store, _ := openScale(t)
	registry := &enginetasks.Registry{}
	registry.AddBucket("stock", enginetasks.Folder(inventory(t, lines)))
	machine := eachThing(t, `"MaxConcurrency": 100,`+writeThings, `"Do": {"Type": "Pass", "End": true}`)
	ended := new(atomic.Int64)
	eng, err := engine.New(machine.Flow(), store, engine.WithTasks(registry), engine.WithObserver(func(ev engine.Event) {
		if ev.Kind == engine.FlowChanged && ev.To == states.FlowSuccess.String() {
			ended.Add(1)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	before := liveHeap()
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		step, decade := int64(lines/20+1), int64(1000)
		for {
			for ended.Load() < min(step, decade) {
				select {
				case <-over:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
			heap, n := liveHeap()-before, ended.Load()
			most = max(most, heap)
			for step <= n {
				step += int64(lines/20 + 1)
			}
			for ; decade <= n; decade *= 10 {
				t.Logf("%d lines: live heap %.1f MiB after %d", lines, float64(heap)/mib, n)
			}
		}
	}()
	began := time.Now()
	_, err = eng.Run(t.Context(), "trip")
	took = time.Since(began)
	close(over)
	<-watched
	if err != nil || ended.Load() != int64(lines)+1 {
		t.Fatalf("%d of %d runs ended: %v", ended.Load(), lines+1, err)
	}
	return most, took
}

// TestDistributedMapSharesInputs gives all items the same large input: the run of the Map
// keeps one copy of it.
//
// Attack (Large runs): An ItemSelector that gives each item the same 256 KiB.
// Result: The Map keeps one copy, each item's run its own.
func TestDistributedMapSharesInputs(t *testing.T) {
	t.Parallel()
	const lines, size = 300, 10_000
	store := memstore.New()
	registry := &enginetasks.Registry{}
	registry.AddBucket("stock", enginetasks.Folder(inventory(t, lines)))
	machine := eachThing(t, `"ItemSelector": {"all.$": "$.all"}, "ResultPath": null,`, `"Do": {"Type": "Pass", "Result": 1, "End": true}`)
	eng := newEngine(t, machine.Flow(), engine.WithStore(store), engine.WithTasks(registry))
	res, err := eng.Run(t.Context(), "r", engine.Input(atom.MustEncode(map[string]string{"all": strings.Repeat("x", size)})))
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Run.Bytes - lines*size; got < 0 || got > lines*size/2 { // each child run has a copy, which counts
		t.Errorf("the run has written %d bytes beside the inputs of its child runs", got)
	}
}

// TestDistributedMapStoresInputsOnce gives each of many child runs a large input of its own, more at once than the run
// remembers. The run of the Map stores each input once, also after it is loaded again. A limit on bytes bounds all of
// them.
//
// Attack (Large runs): A `BatchInput` of 150 KB for each of 20,000 child runs.
// Result: Each input is stored twice, with the child run and with the run of the Map; the run's limit `bytes` counts
// both. 100 KB for 10,000 child runs grow the database by 2.1 GB in 24 s.
func TestDistributedMapStoresInputsOnce(t *testing.T) {
	t.Parallel()
	const lines, size = 60, 100_000
	registry := &enginetasks.Registry{}
	registry.AddBucket("stock", enginetasks.Folder(inventory(t, lines)))
	machine := eachThing(t, `"ItemBatcher": {"MaxItemsPerBatch": 1, "BatchInput": {"all.$": "$.all"}}, "ResultPath": null,`,
		`"Do": {"Type": "Wait", "Seconds": 1, "Next": "Done"}, "Done": {"Type": "Pass", "Result": 1, "End": true}`)
	input := engine.Input(atom.MustEncode(map[string]string{"all": strings.Repeat("x", size)}))
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		records := dies(store.Join(), 20)
		for {
			eng := newEngine(t, machine.Flow(), engine.WithStore(records), engine.WithTasks(registry))
			res, err := eng.Run(t.Context(), "r", input)
			if errors.As(err, new(*engine.StoreError)) {
				records = dies(store.Join(), forever)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Run.Refs; got > lines+lines/2 {
				t.Errorf("the run has stored %d payloads for %d child runs", got, lines)
			}
			if got := res.Run.Bytes; got < 2*lines*size || got > 3*lines*size {
				t.Errorf("the run has written %d bytes", got)
			}
			break
		}
		const limit = 20 * size
		eng := newEngine(t, machine.Flow(), engine.WithTasks(registry), engine.WithLimits(engine.Limits{Bytes: limit}))
		res, err := eng.Run(t.Context(), "r", input)
		if f, is := errors.AsType[*atom.Failure](err); !is || f.Code != atom.CodeLimit || !strings.Contains(f.Message, "bytes") {
			t.Errorf("beyond its limit on bytes, the run ended with %v", err)
		} else if res.Run.Bytes > limit+3*lines*size {
			t.Errorf("it wrote %d bytes", res.Run.Bytes)
		}
	})
}

// TestDistributedMapNeedsLaterItems: the items that run wait for one that has not started. It starts though less than half
// of the slots are free.
func TestDistributedMapNeedsLaterItems(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		m := eachThing(t, `"MaxConcurrency": 4,`, `
			"Do": {"Type": "Choice", "Choices": [{"Variable": "$.id", "StringEquals": "3", "Next": "Done"},
				{"Variable": "$.id", "StringEquals": "4", "Next": "Bad"}], "Default": "Hold"},
			"Done": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"},
			"Hold": {"Type": "Wait", "Seconds": 86400, "End": true}`)
		registry := &enginetasks.Registry{}
		registry.AddBucket("stock", enginetasks.Folder(inventory(t, 6)))
		eng := newEngine(t, m.Flow(), append(opts, engine.WithTasks(registry))...)
		began := time.Now()
		_, err := eng.Run(t.Context(), "r")
		_, failed := errors.AsType[*engine.FailedError](err)
		if took := time.Since(began); !failed || took > time.Hour {
			t.Errorf("it took %v: %v", took, err)
		}
	})
}
