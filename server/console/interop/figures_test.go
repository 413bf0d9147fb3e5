package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// figures lets TestFigures print its figures, as rows of the table of `make console-bench`.
var figures = flag.Bool("figures", false, "print the figures of the console in a browser")

const (
	mostHeap  = 150 << 20             // bytes of a page's scripts
	slowFrame = 20 * time.Millisecond // 95 of 100 frames are faster
	watched   = 4 * time.Second       // how long frames are measured
	pace      = 16 * time.Millisecond // between two changes, which are 60 in a second
	busySteps = 4000                  // of the run that changes meanwhile, beside 10,000 that have ended
	seenSteps = 40                    // whose time from commit to pixel is measured
)

// TestFigures scrolls and folds the tree of runs of 10,000 and 100,000 atoms, also while one of them changes 60 times a
// second. It zooms the largest graph that a page draws, and follows commits to the page. Pages must stay small. It
// prints how long everything takes, which fails no test. No other test runs at the same time.
func TestFigures(t *testing.T) {
	b := open(t, look{1280, false, true})
	s := manyItems(t)
	items := s.page("run", "id", eachRun, "view", "tree", "below", "")
	b.measure("the tree of 100,000 items", items)
	b.busyRun(t)
	b.drawing(t)
	b.commits(t, "in the process of the server", 0, false)
	b.commits(t, "in the process of the server, behind 10,000 atoms", 10_000, false)
	b.commits(t, "in another process", 0, true)
	for _, p := range b.took() {
		t.Error(p)
	}
}

// report prints a row of the table.
func report(what string, took []time.Duration, aim, more string) {
	if !*figures {
		return
	}
	p50, p99 := "", ""
	if len(took) > 0 {
		slices.Sort(took)
		p50, p99 = millis(at(took, 50)), millis(at(took, 99))
	}
	row := fmt.Sprintf("| %s | | %s | %s | %s | %s |", what, p50, p99, aim, more)
	fmt.Fprintln(os.Stdout, strings.ReplaceAll(row, "|  ", "| "))
}

// at returns a percentile of times that are in order.
func at(took []time.Duration, percent int) time.Duration {
	return took[min(len(took)*percent/100, len(took)-1)]
}

func millis(d time.Duration) string {
	text := fmt.Sprintf("%.3g", float64(d.Microseconds())/1000)
	if d >= time.Second {
		text = fmt.Sprintf("%d,%03d", d/time.Second, d%time.Second/time.Millisecond)
	}
	return text + " ms"
}

// frames lets a script change the page in each frame for a while, and returns how long the frames took.
func (b *tab) frames(change string) []time.Duration {
	b.t.Helper()
	spans := eval[[]float64](b, fmt.Sprintf(`new Promise(done => {
		const spans = [], box = document.querySelector("[data-levels]"), list = box?.querySelector("ul"), begin = performance.now();
		let last = begin, n = 0;
		const next = now => {
			spans.push(now - last);
			last = now;
			(%s)(box, list, n++);
			if (now - begin > %d) done(spans.slice(2)); else requestAnimationFrame(next);
		};
		requestAnimationFrame(next);
	})`, change, watched.Milliseconds()))
	took := make([]time.Duration, len(spans))
	for i, span := range spans {
		took[i] = time.Duration(span * float64(time.Millisecond))
	}
	return took
}

// Changes of a page. Each frame makes one of them.
const (
	scrolls = `(box, list, n) => { box.scrollTop = (n * 997) % (box.scrollHeight - box.clientHeight); }`
	folds   = `(box, list, n) => { if (n % 30) return; list.focus();
		list.dispatchEvent(new KeyboardEvent("keydown", {key: n % 60 ? "ArrowLeft" : "ArrowRight", bubbles: true})); }`
	zooms = `(box, list, n) => { if (n % 10) return;
		document.querySelector(n % 70 < 40 ? "a[data-zoom='+']" : "a[data-zoom='-']").click(); }`
)

// measure opens a tree, folds and unfolds its first row if that has items, scrolls, and checks that the page stays small.
func (b *tab) measure(what, address string) {
	b.t.Helper()
	var usable []time.Duration
	for range 5 {
		b.visit(address)
		usable = append(usable, time.Duration(eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)*float64(time.Millisecond)))
	}
	aim := "1 s"
	if strings.Contains(what, "100,000") {
		aim = "2 s"
	}
	report(what+", until it can be used", usable, aim, "")
	eval[bool](b, `(document.querySelector("[role=tree]").focus(), true)`)
	b.await("a row is reached", `document.querySelector("#active-step") !== null`)
	if eval[bool](b, `document.querySelector("#active-step").hasAttribute("aria-expanded")`) {
		b.move(what+": folding", folds)
		b.press(kb.Home)
		if !eval[bool](b, `document.querySelector("#active-step").ariaExpanded === "true"`) {
			b.press(kb.ArrowRight)
		}
		b.await("it is unfolded", `document.querySelector("li[aria-level='2']") !== null`)
	}
	b.move(what+": scrolling", scrolls)
}

// move reports the frames of a change, and checks how large the page is.
func (b *tab) move(what, change string) {
	b.t.Helper()
	took := b.frames(change)
	fast := 0
	for _, one := range took {
		if one < slowFrame {
			fast++
		}
	}
	elements := eval[int](b, `document.querySelectorAll("*").length`)
	used := b.heap()
	if elements > mostElements || used > mostHeap {
		b.t.Errorf("%s: %d elements, %.0f bytes of heap", what, elements, used)
	}
	report(what, took, "95 % in 20 ms; 3,000 elements; 150 MiB", fmt.Sprintf("%.1f %% of %d frames in 20 ms; %d elements; %.1f MiB of heap",
		100*float64(fast)/float64(len(took)), len(took), elements, used/(1<<20)))
}

// drawing measures a graph with as many elements as a page draws.
func (b *tab) drawing(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	store := storeIn(t, dir)
	f := flow.Linear("drawing")
	for i := range 18 {
		part := flow.Unordered(fmt.Sprintf("part-%d", i))
		for j := range 12 {
			part.Add(atom.Func(fmt.Sprintf("atom-%d-%d", i, j), func(context.Context, struct{}) (int, error) { return j, nil }))
		}
		f.Add(part)
	}
	eng, err := engine.New(f, store)
	if err != nil {
		t.Fatal(err)
	}
	_, err = eng.Run(t.Context(), "drawing-1")
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	s := &site{dir: dir, server: serve(t, dir, "console")}
	defer s.kill()
	b.visit(s.page("run", "id", "drawing-1", "view", "graph"))
	if nodes := eval[int](b, `document.querySelectorAll(".picture .node").length`); nodes < 216 {
		t.Fatalf("the graph has %d nodes", nodes)
	}
	b.move("a graph of 216 atoms: zooming", zooms)
	b.visit("about:blank")
}

// manyItems returns a site with a run of 100,000 items.
func manyItems(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	items := make([]int, 100_000)
	for i := range items {
		items[i] = i
	}
	store := storeIn(t, dir)
	eng, err := engine.New(goFlows()[eachRun], store, engine.With(numbers, items))
	if err != nil {
		t.Fatal(err)
	}
	_, err = eng.Run(t.Context(), eachRun)
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	s := &site{dir: dir, server: serve(t, dir, "console")}
	t.Cleanup(s.kill)
	return s
}

// storeIn opens the database of a folder.
func storeIn(t *testing.T, dir string) backend.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(dir, "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// busyRun measures the tree of a run of 10,000 atoms, one of which ends 60 times a second.
func (b *tab) busyRun(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	store := storeIn(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	busy := flow.Linear("busy")
	done := flow.Unordered("done")
	for i := range 10_000 {
		done.Add(atom.Func(fmt.Sprintf("atom-%d", i), func(context.Context, struct{}) (int, error) { return i, nil }))
	}
	busy.Add(done)
	ready := make(chan struct{})
	for i := range busySteps {
		busy.Add(atom.Func(fmt.Sprintf("step-%d", i), func(ctx context.Context, _ struct{}) (int, error) {
			if i == 0 {
				close(ready)
			}
			return i, paced(ctx)
		}))
	}
	eng, err := engine.New(busy, store)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := eng.Run(ctx, "busy-1")
		ended <- err
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	s := &site{dir: dir, server: serve(t, dir, "console")}
	b.measure("a tree of 10,000 atoms with 60 changes a second", s.page("run", "id", "busy-1", "view", "tree"))
	b.visit("about:blank")
	stop()
	if err := <-ended; !errors.Is(err, engine.ErrStopped) {
		t.Error(err)
	}
	s.kill()
	b.must(store.Close())
}

// paced waits for the pace of changes.
func paced(ctx context.Context) error {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commits measures the time from before the commit that ends a step until the frame in which the page shows it, in a run
// in which other atoms have ended before.
func (b *tab) commits(t *testing.T, where string, before int, other bool) {
	t.Helper()
	dir := t.TempDir()
	store := storeIn(t, dir)
	next := make(chan struct{})
	steps := flow.Linear("steps")
	if before > 0 {
		done := flow.Unordered("done")
		for i := range before {
			done.Add(atom.Func(fmt.Sprintf("atom-%d", i), func(context.Context, struct{}) (int, error) { return i, nil }))
		}
		steps.Add(done)
	}
	begun := make(chan struct{})
	for i := range seenSteps {
		steps.Add(atom.Func(fmt.Sprintf("step-%d", i), func(ctx context.Context, _ struct{}) (int, error) {
			if i == 0 {
				close(begun)
			}
			select {
			case <-next:
				return i, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}))
	}
	eng, err := engine.New(steps, store)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := eng.Run(t.Context(), "steps-1")
		ended <- err
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Fatal(err)
	}
	s := &site{dir: dir}
	if other {
		s.server = serve(t, dir, "console")
		t.Cleanup(s.kill)
	} else {
		web := httptest.NewServer(console.New(store, console.Options{}))
		t.Cleanup(web.Close)
		s.server = &server{address: web.URL}
	}
	address := s.page("run", "id", "steps-1", "view", "tree")
	if !other {
		address = strings.Replace(address, "/console/", "/", 1)
	}
	b.visit(address)
	b.await("it is live", `document.querySelector("[data-live]").textContent === "live"`)
	eval[bool](b, `(window.seen = [], new MutationObserver(() => {
		const ended = [...document.querySelectorAll(".tree li")].filter(row => row.textContent.includes("SUCCESS"))
			.map(row => row.querySelector("a").textContent.match(/^step-(\d+)$/)?.[1]);
		requestAnimationFrame(() => { for (const n of ended) if (n) seen[n] ??= performance.timeOrigin + performance.now(); });
	}).observe(document.querySelector("main"), {subtree: true, childList: true, characterData: true, attributes: true}), true)`)
	var took []time.Duration
	for n := range seenSteps - 1 {
		if before > 0 { // to the row of the step, which comes after those of the others
			eval[bool](b, fmt.Sprintf(`(document.querySelector("[data-levels]").scrollTop = %d, true)`, (before+n-5)*30))
			b.await("the step is seen", fmt.Sprintf(`document.querySelector("li[data-key='step-%d']") !== null`, n))
		}
		began := time.Now()
		next <- struct{}{}
		b.await("the step has ended", fmt.Sprintf(`seen[%d] !== undefined`, n))
		took = append(took, time.UnixMicro(int64(1000*eval[float64](b, fmt.Sprintf(`seen[%d]`, n)))).Sub(began))
	}
	b.visit("about:blank")
	close(next)
	if err := errors.Join(<-ended, store.Close()); err != nil {
		t.Error(err)
	}
	slices.Sort(took)
	aim := map[bool]string{false: "p95 250 ms", true: "p95 1.2 s"}[other]
	report("from a commit "+where+" to the frame that shows it", took, aim, "p95 "+millis(at(took, 95)))
}

// heap returns how many bytes the page's scripts use.
func (b *tab) heap() float64 {
	b.t.Helper()
	used, err := chromedp.Call(b.ctx, runtime.GetHeapUsage, cdp.Empty{})
	b.must(err)
	return used.UsedSize
}
