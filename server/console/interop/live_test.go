package interop_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// waitMachine does something that can be undone, and then waits.
const waitMachine = `{"StartAt": "Pay", "States": {
	"Pay": {"Type": "Task", "Resource": "exec:./pay.sh", "Revert": {"Resource": "exec:./pay.sh"}, "Next": "Later"},
	"Later": {"Type": "Wait", "Seconds": 1000, "End": true}}}`

// liveFolder returns a folder with a machine whose runs wait.
func liveFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"wait.asl.json": waitMachine, "pay.sh": "#!/bin/sh\necho 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shows waits until an expression holds in the page, which is not reloaded meanwhile.
func (b *tab) shows(what, expression string) {
	b.t.Helper()
	const patience = 20 * time.Second
	for began := time.Now(); !eval[bool](b, expression); {
		if time.Since(began) > patience {
			b.t.Fatalf("the page does not show %s:\n%s", what, clip(eval[string](b, `document.body.innerText`)))
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-b.ctx.Done():
			b.t.Fatal(b.ctx.Err())
		}
	}
	if eval[string](b, `window.mark ?? ""`) != "loaded once" {
		b.t.Errorf("the page was loaded anew before it showed %s", what)
	}
}

// mark remembers that the page was loaded.
func (b *tab) mark() {
	b.t.Helper()
	eval[string](b, `window.mark = "loaded once"`)
}

// state is an expression that holds if the page of a run shows this state.
func state(name string) string {
	return `document.querySelector("h1 .chip").textContent.includes("` + name + `")`
}

// another opens a tab of the same browser.
func (b *tab) another() *tab {
	b.t.Helper()
	ctx, closeTab := chromedp.NewContext(b.ctx)
	b.t.Cleanup(closeTab)
	next := &tab{t: b.t, ctx: ctx}
	next.must(chromedp.Do(ctx))
	next.must(chromedp.Listen(ctx, next.note))
	ctx, cancel := context.WithTimeout(ctx, within)
	b.t.Cleanup(cancel)
	next.ctx = ctx
	return next
}

// click follows a link or sends a form, and waits for the next page.
func (b *tab) click(selector string) {
	b.t.Helper()
	eval[int](b, `window.old = 1`)
	b.must(chromedp.Do(b.ctx, chromedp.Click(selector)))
	for range 1000 {
		next, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`window.old !== 1 && document.readyState === "complete"`))
		if err == nil && next { // between two pages there is nothing to ask
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-b.ctx.Done():
			b.t.Fatal(b.ctx.Err())
		}
	}
	b.t.Fatalf("%s leads nowhere", selector)
}

// TestLive: ten tabs of one browser follow a run that other processes drive and cancel, over one stream. After kill -9
// and a restart of the server, the pages continue by themselves.
func TestLive(t *testing.T) {
	t.Parallel()
	dir := liveFolder(t)
	s := serve(t, dir, "serve")
	defer func() { s.kill() }()
	command(t, dir, "post", "wait.asl.json", "--id", "one")
	first := open(t, looks[0])
	tabs := []*tab{first}
	for len(tabs) < 10 {
		tabs = append(tabs, first.another())
	}
	for i, b := range tabs {
		b.visit(s.address + "/console/run?id=one&view=" + []string{"tree", "timeline", "history", "undo"}[i%4])
		b.mark()
	}
	for _, b := range tabs {
		b.shows("that it is live", `document.querySelector("[data-live]").textContent === "live"`)
		b.shows("that the run waits", state("RUNNING"))
	}
	command(t, dir, "cancel", "one", "--no-wait", "--by", "ann")
	for _, b := range tabs {
		b.shows("that the run was undone", state("REVERTED"))
	}
	streams := 0
	for _, b := range tabs {
		if slices.ContainsFunc(b.asked(), func(at string) bool { return strings.Contains(at, "/stream?") }) {
			streams++
		}
	}
	if streams > 1 {
		t.Errorf("%d of the tabs opened a stream", streams)
	}
	tabs[2].shows("who cancelled", `document.querySelector("main").textContent.includes("ann")`)

	list := tabs[9]
	list.visit(s.address + "/console/runs")
	list.mark()
	list.shows("that it is live", `document.querySelector("[data-live]").textContent === "live"`)
	rows := eval[int](list, `document.querySelectorAll("tbody tr").length`)
	for _, b := range tabs {
		for _, p := range b.took() {
			t.Error(p)
		}
	}
	s.kill()
	address := strings.TrimPrefix(s.address, "http://")
	s = serveAt(t, dir, address)
	command(t, dir, "post", "wait.asl.json", "--id", "two")
	list.shows("a new run, above rows that stay", `!document.querySelector("[data-fresh]").hidden &&
		document.querySelector("[data-fresh] b").textContent === "1"`)
	if now := eval[int](list, `document.querySelectorAll("tbody tr").length`); now != rows {
		t.Errorf("the list had %d rows and has %d", rows, now)
	}
	tabs[0].shows("that it is live again", `document.querySelector("[data-live]").textContent === "live"`)
}

// TestNight: an operator opens a link to a run, logs in with a key, reads what a cancellation would undo, cancels the run,
// and sees it undone: with the page's script, and without any. A key for view finds no button.
func TestNight(t *testing.T) {
	t.Parallel()
	dir := liveFolder(t)
	operate, view := strings.Repeat("o", 40), strings.Repeat("v", 40)
	keys := "ann " + operate + " operate\neve " + view + " view\n"
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, "serve", "--keys", "keys")
	defer s.kill()
	for _, l := range []look{looks[0], {360, true, false}} {
		id := "with"
		if !l.script {
			id = "without"
		}
		command(t, dir, "post", "wait.asl.json", "--id", id)
		b := open(t, l)
		send := func(field, text, button string) {
			t.Helper()
			b.must(chromedp.Do(b.ctx, chromedp.SetValue(field, text)))
			b.click(button)
		}
		b.visit(s.address + "/console/run?id=" + id)
		send("input[name=key]", strings.Repeat("x", 40), ".login button")
		if got := b.texts("[role=alert]"); len(got) != 1 {
			t.Errorf("%v: a wrong key shows %q", l, got)
		}
		send("input[name=key]", operate, ".login button")
		for tries := 0; !strings.Contains(strings.Join(b.texts("h1"), ""), "RUNNING"); tries++ { // until the server took it
			if tries > 100 {
				t.Fatalf("%v: the run is %q", l, b.texts("h1"))
			}
			b.visit(s.address + "/console/run?id=" + id)
		}
		b.click(`.buttons a[href*="do=cancel"]`)
		if got := strings.Join(b.texts(".undone li"), ";"); !strings.Contains(got, "Pay") {
			t.Errorf("%v: the form says that %q would be undone", l, got)
		}
		send(`input[name="f.reason"]`, "enough", ".go")
		b.mark()
		if l.script {
			b.shows("that the run was undone", state("REVERTED"))
		}
		for tries := 0; !strings.Contains(strings.Join(b.texts("h1"), ""), "REVERTED"); tries++ {
			if tries > 100 {
				t.Fatalf("%v: the run is %q", l, b.texts("h1"))
			}
			b.visit(s.address + "/console/run?id=" + id)
		}
		b.visit(s.address + "/console/audit")
		if got := strings.Join(b.texts("tbody tr:first-of-type"), ""); !strings.Contains(got, "ann (console)") {
			t.Errorf("%v: the audit says %q", l, got)
		}
		if b.click(".who button"); len(b.texts(".login")) != 1 {
			t.Errorf("%v: after the logout the page is %q", l, b.texts("h1"))
		}
		for _, p := range b.took() {
			t.Error(p)
		}
	}
	b := open(t, looks[0])
	b.visit(s.address + "/console/run?id=with")
	b.must(chromedp.Do(b.ctx, chromedp.SetValue("input[name=key]", view)))
	b.click(".login button")
	if got := b.texts(".why p"); len(got) == 0 {
		t.Errorf("a viewer sees %q", b.texts("h1"))
	}
	if got := b.texts(".button"); len(got) != 0 {
		t.Errorf("a viewer sees the buttons %q", got)
	}
}
