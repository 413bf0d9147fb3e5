package interop_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// ctrlKey is Ctrl as a modifier of an event of the browser.
const ctrlKey = 2

// pictureSize says how the picture of a page is seen: its width, what the page says, and the size in the address.
const pictureSize = `[Math.floor(document.querySelector(".picture svg").getBoundingClientRect().width),
	document.querySelector("[data-percent]").textContent, new URL(location.href).searchParams.get("zoom") ?? ""].join(" ")`

// TestZoomInPage: the keys, the links and the wheel zoom the picture without reloading the page. The address has the
// zoom, and opens the same view. The links of the picture keep it. Without scripts, the links load the page.
func TestZoomInPage(t *testing.T) {
	t.Parallel()
	s := shared(t)
	address := s.page("run", "id", tripRun, "view", "graph")
	b := open(t, look{1280, false, true})
	b.visit(address)
	eval[bool](b, `(window.stayed = true)`)
	width := eval[float64](b, `document.querySelector(".picture svg").viewBox.baseVal.width`)
	want := func(what string, percent int, address string) {
		t.Helper()
		seen := fmt.Sprintf("%d %d %% %s", int(width*float64(percent)/100), percent, address)
		if got := eval[string](b, pictureSize); got != seen || !eval[bool](b, `window.stayed === true`) {
			t.Errorf("%s: %q, want %q", what, got, seen)
		}
	}
	want("at first", 100, "")
	b.press("+")
	want("after +", 150, "150")
	b.await("links keep it", `[...document.querySelectorAll(".picture a")].every(a => a.getAttribute("href").includes("zoom=150"))`)
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`a[data-zoom="+"]`))))
	want("after the link", 200, "200")
	// The browser wants a DeltaX that is not left out.
	b.press("+", "+", "+")
	want("at the end", 400, "400")
	if !eval[bool](b, `document.querySelector('a[data-zoom="+"]').matches("[aria-disabled=true]:not([href])")`) {
		t.Error("the largest picture can become larger")
	}
	b.press("-", "-", "-", "-")
	want("and back", 100, "")
	b.press("-")
	want("smaller", 75, "75")
	shared := eval[string](b, `location.href`)
	b.visit(shared)
	eval[bool](b, `(window.stayed = true)`)
	want("at its address", 75, "75")
	for _, p := range b.took() {
		t.Error(p)
	}

	b.visit(s.page("run", "id", largeRun, "view", "graph"))
	const under = `(() => {
		const box = document.querySelector(".picture svg .node.s-success").getBoundingClientRect();
		return [box.x + box.width / 2, box.y + box.height / 2];
	})()`
	const inSight = `(() => {
		const [box, shown] = [".picture svg .node", ".picture"].map(s => document.querySelector(s).getBoundingClientRect());
		return shown.left <= box.left && box.right <= shown.right;
	})()`
	if !eval[bool](b, `document.querySelector(".picture svg").getBoundingClientRect().width > innerWidth && `+inSight) {
		t.Error("the first node of a wide picture is out of sight")
	}
	eval[bool](b, `(document.querySelector(".picture").scrollLeft += document.querySelector(".picture svg .node.s-success").getBoundingClientRect().x - 300, true)`)
	at := eval[[]float64](b, under)
	// The browser wants a DeltaX that is not left out.
	set(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventTypeMouseWheel, X: at[0], Y: at[1], DeltaX: 0.01, DeltaY: -120, Modifiers: ctrlKey,
	})
	b.await("the wheel zooms", `new URL(location.href).searchParams.get("zoom") === "150"`)
	if now := eval[[]float64](b, under); math.Abs(now[0]-at[0]) > 2 {
		t.Errorf("what is under the pointer moved from %v to %v", at, now)
	}
	for _, p := range b.took() {
		t.Error(p)
	}

	plain := open(t, look{1280, false, false})
	plain.visit(address)
	if _, err := chromedp.RunResponse(plain.ctx, chromedp.Click(chromedp.CSS(`a[data-zoom="+"]`))); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](plain, pictureSize); !strings.HasSuffix(got, " 150 % 150") {
		t.Errorf("without scripts: %q", got)
	}
}
