package interop_test

import (
	"context"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// within bounds each test of the browser, on a machine that is slow and busy.
const within = 12 * time.Minute

// start starts Chromium, once for all tests. The error says that there is none, or why it does not start.
var start = sync.OnceValues(func() (context.Context, error) {
	file, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), // its user data folder is a new one
		chromedp.ExecPath(file), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("host-resolver-rules", "MAP *.example.org 127.0.0.1"), // as a site does that attacks by rebinding
		chromedp.WSURLReadTimeout(time.Minute))
	ctx, closeBrowser := chromedp.NewContext(allocator)
	stopBrowser = func() { closeBrowser(); stop() }
	return ctx, chromedp.Do(ctx)
})

// stopBrowser ends Chromium.
var stopBrowser = func() {}

// windowHeight is how high the window is, in pixels.
const windowHeight = 900

// A look is how a page is seen.
type look struct {
	width  int64
	dark   bool
	script bool // the page's own scripts run
}

// looks are those that every page must be good in.
var looks = []look{{1280, false, true}, {1280, true, true}, {360, false, true}, {360, true, true}}

func (l look) String() string {
	name := "light"
	if l.dark {
		name = "dark"
	}
	if l.width < 600 {
		name += ", narrow"
	}
	if !l.script {
		name += ", no script"
	}
	return name
}

// A tab is a window of the browser with cookies of its own. It notes what a page must not do.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // the browser is in it

	mu       sync.Mutex
	homes    []string // origins of visited pages, which may be asked; the icon of an earlier page may come late
	problems []string
	requests []string
	bytes    int64 // received, as transferred
}

// open opens a tab.
func open(t *testing.T, l look) *tab {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skipf("needs chromium: %v", err)
	}
	parent, err := start()
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx}
	b.must(chromedp.Do(ctx)) // opens it
	b.must(chromedp.Listen(ctx, b.note))
	ctx, cancel := context.WithTimeout(ctx, within)
	t.Cleanup(cancel)
	b.ctx = ctx
	set(b, log.Enable, cdp.Empty{})
	set(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: map[bool]string{true: "dark", false: "light"}[l.dark]},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	b.resize(l.width, windowHeight)
	set(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !l.script})
	return b
}

// resize sets the size of the window.
func (b *tab) resize(width, height int64) {
	b.t.Helper()
	set(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1,
	})
}

// set calls a command of the browser that returns nothing of interest.
func set[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	b.must(err)
}

// must ends the test if the browser could not do something.
func (b *tab) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// note keeps what happens in the tab.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
		at, err := url.Parse(e.Request.URL)
		if err != nil || !slices.Contains(b.homes, at.Scheme+"://"+at.Host) {
			b.problems = append(b.problems, "a request to "+clip(e.Request.URL))
		}
	case *network.EventLoadingFinished:
		b.bytes += int64(e.EncodedDataLength)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			b.problems = append(b.problems, "the browser logs: "+clip(e.Entry.Text+" "+e.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "a script throws: "+clip(e.ExceptionDetails.Text))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			b.problems = append(b.problems, "a script logs an error")
		}
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "a script opens a dialog: "+clip(e.Message))
		go func() { // else the tab waits for a person
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	}
}

// asked returns the addresses that the open page asked for.
func (b *tab) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// received returns how many bytes the server sent for the open page, with headers.
func (b *tab) received() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// visit opens an address.
func (b *tab) visit(address string) {
	b.t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.homes, b.requests, b.bytes = append(b.homes, at.Scheme+"://"+at.Host), nil, 0
	b.mu.Unlock()
	if err := chromedp.Do(b.ctx, chromedp.Navigate(address)); err != nil {
		b.t.Fatalf("%s: %v", clip(address), err)
	}
}

// eval returns what a JavaScript expression gives in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", clip(expression), err)
	}
	return v
}

// texts returns the texts of all elements that a selector selects.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll(`+quote(selector)+`)].map(e => e.textContent.trim())`)
}

// took returns the problems since the last call.
func (b *tab) took() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	problems := b.problems
	b.problems = nil
	return problems
}

// quote returns a text as a literal of JavaScript.
func quote(s string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	return `"` + r.Replace(s) + `"`
}
