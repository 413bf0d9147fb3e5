package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

const killedItems = 12

// TestKilledMap kills the process in the middle of a distributed Map, and lets another one resume it. Each item is
// done, and none again whose run had ended.
func TestKilledMap(t *testing.T) {
	t.Parallel()
	for _, after := range []int{1, killedItems / 2, killedItems - 1} {
		t.Run(fmt.Sprintf("after %d items", after), func(t *testing.T) {
			t.Parallel()
			killMap(t, after)
		})
	}
}

func killMap(t *testing.T, after int) {
	t.Helper()
	v := newVictim(t, "items.asl.json")
	var text strings.Builder
	for i := range killedItems {
		fmt.Fprintf(&text, "{\"item\": %d}\n", i)
	}
	if err := os.WriteFile(filepath.Join(v.dir, "items.jsonl"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := v.ebb("", "run", "--id", crashRun, "--bucket", "in="+v.dir, v.file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(5 * time.Minute); len(v.done(t)) < after; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("no items are done")
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // how it ended is seen in the store
	before, ended := v.done(t), v.ended(t)
	out, err := v.ebb("", "resume", crashRun).CombinedOutput()
	if err != nil {
		t.Fatalf("going on: %v\n%s", err, out)
	}
	all := v.done(t)
	for _, run := range all[len(before):] {
		if slices.Contains(ended, run) {
			t.Errorf("%s was done again though it had ended", run)
		}
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != killedItems {
		t.Errorf("%d items were done: %v", n, all)
	}
	if n := len(v.ended(t)); n != killedItems {
		t.Errorf("%d runs have ended", n)
	}
	if want := `[{"item":0},{"item":1},`; !strings.Contains(string(out), want) {
		t.Errorf("results:\n%s", out)
	}
}

// done returns the runs that have done an item, in order.
func (v *victim) done(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(v.journal)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	return lines[:len(lines)-1]
}

// ended returns the runs of items that have ended well.
func (v *victim) ended(t *testing.T) []string {
	t.Helper()
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, v.db, sqlstore.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	var ids []string
	for i := range killedItems {
		run, err := store.Run(ctx, fmt.Sprintf("%s/Each[%d]", crashRun, i))
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Fatal(err)
		}
		if err == nil && run.State == states.FlowSuccess {
			ids = append(ids, run.ID+"\n")
		}
	}
	return ids
}
