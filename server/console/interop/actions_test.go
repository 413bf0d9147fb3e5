package interop_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ebbflow/ebb/states"
)

// actionSite returns a site of its own, which a test may change: an undo has failed, and another run waits for a day.
func actionSite(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	for name, text := range map[string]string{
		"timer.asl.json": definitions["timer.asl.json"],
		"stuck.asl.json": `{"StartAt": "Book", "States": {
			"Book": {"Type": "Task", "Resource": "exec:./fail.sh not", "Revert": "exec:./fail.sh", "Next": "Pay"},
			"Pay": {"Type": "Task", "Resource": "exec:./fail.sh", "End": true}}}`,
		"fail.sh": "#!/bin/sh\ncat >/dev/null\n[ \"$1\" = not ]\n",
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command(t, s.dir, "run", "stuck.asl.json", "--id", stuckRun)
	command(t, s.dir, "post", "timer.asl.json", "--id", timerRun)
	s.server = serve(t, s.dir, "serve", "--log-level", "warn")
	t.Cleanup(s.kill)
	s.await(t, timerRun, "Day waits until")
	return s
}

// audited returns the lines of the page Audit that have a command.
func audited(b *tab, s *site, command string) (lines []string) {
	b.t.Helper()
	b.visit(s.page("audit"))
	for _, line := range b.texts("tbody tr") {
		if strings.Contains(line, command) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestDecideByKeyboard: a person decides about a failed undo, with the keyboard alone and without scripts. The run is
// then undone, and the audit has one line.
func TestDecideByKeyboard(t *testing.T) {
	t.Parallel()
	for _, l := range []look{{1280, false, true}, {360, true, false}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			s := actionSite(t)
			b := open(t, l)
			b.visit(s.page(""))
			b.pressTo(stuckRun)
			b.pressTo("undo")
			b.pressWhere(`document.activeElement.href?.includes("do=skip") && document.activeElement.href.includes("f.atom=Book")`)
			b.must(chromedp.Do(b.ctx, chromedp.WaitReady(chromedp.CSS("form.command"))))
			b.pressWhere(`document.activeElement.matches("form.command button.go")`)
			s.await(t, stuckRun, states.FlowReverted.String())
			if lines := audited(b, s, "skip"); len(lines) != 1 || !strings.Contains(lines[0], stuckRun) {
				t.Errorf("audit: %q", lines)
			}
			b.visit(s.page(""))
			if text := strings.Join(b.texts("main"), " "); strings.Contains(text, stuckRun) {
				t.Errorf("home still has the run: %s", text)
			}
			for _, p := range b.took() {
				t.Error(p)
			}
		})
	}
}

// TestDoubleClick: a double click on the button of a command, and the same form sent again later, count once.
func TestDoubleClick(t *testing.T) {
	t.Parallel()
	s := actionSite(t)
	b := open(t, look{1280, false, true})
	form := s.page("command", "of", "run", "do", "suspend", "id", timerRun)
	b.visit(form)
	once := eval[string](b, `document.querySelector("[name=once]").value`)
	b.must(chromedp.Do(b.ctx, chromedp.DoubleClick(chromedp.CSS("form.command button.go")), chromedp.WaitReady(chromedp.CSS(".told"))))
	s.await(t, timerRun, states.FlowSuspended.String())
	b.visit(form)
	eval[bool](b, `document.querySelector("[name=once]").value = `+quote(once)+`, true`)
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("form.command button.go")), chromedp.WaitReady(chromedp.CSS(".told"))))
	if lines := audited(b, s, "suspend"); len(lines) != 1 {
		t.Errorf("audit: %q", lines)
	}
}

// TestOtherSite: a page of another site can neither give a command nor show the console in a frame.
func TestOtherSite(t *testing.T) {
	t.Parallel()
	s := actionSite(t)
	to := s.page("command", "of", "run", "do", "cancel", "id", timerRun)
	pages := map[string]string{
		"form":  `<form method="post" action="%s"><input name="once" value="evil"></form><script>document.forms[0].submit()</script>`,
		"fetch": `<script>fetch("%s", {method: "POST", mode: "no-cors", body: new URLSearchParams({once: "evil"})}).finally(() => document.title = "done")</script>`,
		"frame": `<iframe src="%s"></iframe><script>onload = () => document.title = "done"</script>`,
		"api":   `<script>fetch("%s/api/v1/runs/` + timerRun + `/cancel", {method: "POST", mode: "no-cors", body: "{}"}).finally(() => document.title = "done")</script>`,
	}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		target := to
		if name == "api" {
			target = s.address
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if page, is := pages[name]; is {
			_, _ = fmt.Fprintf(w, "<!doctype html><body>"+page, target) // the browser is there
		}
	}))
	t.Cleanup(evil.Close)
	at, err := url.Parse(evil.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name := range pages {
		b := open(t, look{1280, false, true})
		host := "localhost" // of another site than 127.0.0.1
		if name == "frame" {
			host = at.Hostname() // of another origin only: what a frame of another site does is not reported to the tab
		}
		b.visit("http://" + net.JoinHostPort(host, at.Port()) + "/" + name)
		if name == "form" {
			b.must(chromedp.Do(b.ctx, chromedp.WaitReady(chromedp.CSS("body"))))
			b.wait(`location.origin == ` + quote(s.address))
		} else {
			b.wait(`document.title == "done"`)
		}
		if name == "frame" {
			b.awaitProblem("403 (Forbidden)")
		}
		if lines := audited(b, s, "cancel"); len(lines) > 0 {
			t.Errorf("%s: the console took a command of another site: %q", name, lines)
		}
	}
	s.await(t, timerRun, states.FlowRunning.String())
}

// awaitProblem waits until the browser reports a problem that contains a text, which may be some time after the cause.
func (b *tab) awaitProblem(text string) {
	b.t.Helper()
	var problems []string
	for !strings.Contains(strings.Join(problems, " "), text) {
		if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](nextFrame, chromedp.EvalAwaitPromise)); err != nil {
			b.t.Fatalf("no problem with %s (%v), only %q", text, err, problems)
		}
		problems = append(problems, b.took()...)
	}
}

// nextFrame waits a moment in the page.
const nextFrame = `new Promise(done => setTimeout(() => done(true), 20))`

// wait waits until a condition holds in the page.
func (b *tab) wait(condition string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](condition)); err != nil {
		b.t.Fatalf("%s: %v: %q", condition, err, b.took())
	}
}
