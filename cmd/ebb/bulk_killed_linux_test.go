package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestBulkKilled gives cancel to many runs, as `ebb bulk` does. Most of them wait, and one in fifty has ended. The
// server is killed halfway. The next server continues. How many runs is EBB_SCALE, at most 100,000.
//
// Guarantee (G5): A bulk command continues after a kill of the server. It counts once for each run, and lists the runs
// that refuse.
func TestBulkKilled(t *testing.T) {
	t.Parallel()
	longtest.Needs(t)
	b := newBulkWorld(t)
	server := b.serve(t)
	b.until(t, "all runs wait or have ended", func() bool {
		return b.count(t, storage.RunQuery{Flow: "waiting"}) == b.waiting && b.count(t,
			storage.RunQuery{Flow: "ended", States: []states.Flow{states.FlowSuccess}}) == b.ended
	})
	command := b.ebb("", "bulk", "cancel", "id:sold-*", "--reason", "the offer has ended", "-o", "json")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cancelled := storage.RunQuery{Outcomes: []storage.Outcome{storage.Cancelled}}
	b.until(t, "half of the runs are cancelled", func() bool { return b.count(t, cancelled) >= b.waiting/2 })
	_ = server.Process.Kill() // what it says is checked below
	_ = server.Wait()
	if n := b.count(t, cancelled); n >= b.waiting {
		t.Errorf("the server was killed when all %d runs were cancelled", n)
	}
	server = b.serve(t)
	b.until(t, "the bulk command has ended", func() bool {
		return b.count(t, storage.RunQuery{Flow: bulk.Name, States: []states.Flow{states.FlowSuccess}}) == 1
	})
	b.until(t, "all runs have ended", func() bool { return b.count(t, cancelled) == b.waiting })
	t.Logf("the second server took at most %d MiB", peakMemory(t, server.Process.Pid))
	b.stop(t, server)
	b.check(t)
}

// A bulkWorld is a database with many runs.
type bulkWorld struct {
	*victim

	store          *sqlstore.Store
	waiting, ended int
	began          time.Time
}

func newBulkWorld(t *testing.T) *bulkWorld {
	t.Helper()
	n := 3000
	if text := os.Getenv("EBB_SCALE"); text != "" {
		scale, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal("EBB_SCALE: ", err)
		}
		n = min(scale, bulk.MaxRuns)
	}
	const refusing = 50 // one in so many
	b := &bulkWorld{victim: newVictim(t, ""), waiting: n - n/refusing, ended: n / refusing, began: time.Now()}
	for name, text := range map[string]string{
		"waiting": `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 36000, "End": true}}}`,
		"ended":   `{"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}`,
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name+".asl.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if b.store, err = sqlstore.Open(t.Context(), b.db); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.store.Close(); err != nil {
			t.Error(err)
		}
	})
	sideBySide(n, func(i int) {
		id, flow := fmt.Sprintf("sold-%d", i), "waiting"
		if i%refusing == 0 && i/refusing < b.ended {
			flow = "ended"
		}
		if _, err := jobs.New(b.store, jobs.Policy{}).Post(t.Context(), jobs.Job{ID: id, Run: id, Flow: flow}); err != nil {
			t.Error(err)
		}
	})
	return b
}

// serve starts a server.
func (b *bulkWorld) serve(t *testing.T) *exec.Cmd {
	t.Helper()
	server := b.ebb("EBB_LOG_LEVEL=error", "serve", "--listen", "off", "waiting.asl.json", "ended.asl.json")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	return server
}

// stop stops a server.
func (b *bulkWorld) stop(t *testing.T, server *exec.Cmd) {
	t.Helper()
	_ = server.Process.Signal(os.Interrupt) // Wait says what became of it
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

// until waits for what the servers do.
func (b *bulkWorld) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-t.Context().Done():
			t.Fatal("the test ended before ", what)
		}
	}
	t.Logf("%v: %s", time.Since(b.began).Round(time.Millisecond), what)
}

// count returns the number of top runs.
func (b *bulkWorld) count(t *testing.T, q storage.RunQuery) int {
	t.Helper()
	q.Top = true
	n, err := b.store.CountRuns(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// check checks that each run has exactly one line about the command, and that the output lists those that refused.
func (b *bulkWorld) check(t *testing.T) {
	t.Helper()
	given := map[string]int{}
	for below := int64(0); ; {
		const atOnce = 1000
		lines, err := b.store.Audit(t.Context(), backend.AuditQuery{Below: below, Limit: atOnce})
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			break
		}
		for i := range lines {
			l := &lines[i]
			if below = l.N; l.Run == "" {
				continue
			}
			if l.Entry.Type != "cancel" || l.Entry.Failure != nil || l.Entry.Issuer.Via != storage.ViaBulk {
				t.Errorf("%s has the line %+v", l.Run, l.Entry)
			}
			given[l.Run]++
		}
	}
	if len(given) != b.waiting {
		t.Errorf("%d runs got the command, want %d", len(given), b.waiting)
	}
	for run, n := range given {
		if n != 1 {
			t.Errorf("%s got the command %d times", run, n)
		}
	}
	refused := 0
	pages, err := b.store.Runs(t.Context(), storage.RunQuery{Flow: bulk.Name + ".page"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		output := pages[i].Output.Data.String()
		for part := range strings.SplitSeq(output, `run sold-`) {
			if strings.Contains(part, "is SUCCESS: it has ended") {
				refused++
			}
		}
		if n := strings.Count(output, atom.CodeRefused); n != strings.Count(output, "is SUCCESS: it has ended") {
			t.Errorf("%s has %d refusals: %.1000s", pages[i].ID, n, output)
		}
	}
	if refused != b.ended {
		t.Errorf("%d runs are listed as refused on %d pages, want %d", refused, len(pages), b.ended)
	}
}
