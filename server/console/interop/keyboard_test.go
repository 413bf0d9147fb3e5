package interop_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// focusable marks what the keyboard must reach, in the order of the page.
const focusable = `window.reach = [...document.querySelectorAll(
	'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
	.filter(e => !e.disabled && e.getClientRects().length > 0 && e.checkVisibility({visibilityProperty: true})); window.reach.length`

// focused describes the element with the focus: its place in the order, and whether a person sees where it is.
const focused = `(() => {
	const e = document.activeElement, r = e.getBoundingClientRect(), c = getComputedStyle(e);
	return {Place: window.reach.indexOf(e), What: e.outerHTML.slice(0, 100),
		Marked: c.outlineStyle != "none" && parseFloat(c.outlineWidth) >= 1,
		Seen: r.right > 0 && r.bottom > 0 && r.left < innerWidth && r.top < innerHeight}
})()`

// mostStops is how many elements of one page are reached; further ones are like these.
const mostStops = 60

type focus struct {
	Place        int
	What         string
	Marked, Seen bool
}

// TestKeyboard: Tab reaches everything in the order of the page, and a person sees where it is.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := shared(t)
	pages := kinds1(t, everyPage(t, s))
	for _, l := range []look{{1280, true, true}, {360, false, true}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			for _, address := range pages {
				b.visit(address)
				page := strings.TrimPrefix(address, s.address)
				stops := eval[int](b, focusable)
				if stops < 3 {
					t.Errorf("%s has %d elements to reach", page, stops)
				}
				for want := range min(stops, mostStops) {
					b.must(chromedp.Do(b.ctx, chromedp.KeyEvent("\t")))
					f := eval[focus](b, focused)
					if f.Place != want || !f.Marked || !f.Seen {
						t.Errorf("%s: after %d times Tab: %+v", page, want+1, f)
						break
					}
				}
			}
		})
	}
}

// kinds1 returns one page of each kind.
func kinds1(t *testing.T, pages []string) (some []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, address := range pages {
		if k := kind(parse(t, address)); !seen[k] {
			seen[k] = true
			some = append(some, address)
		}
	}
	return some
}

// TestKeyboardTrip finds the trip that was undone, and reads what was undone, with the keyboard alone.
func TestKeyboardTrip(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, look{1280, false, true})
	b.visit(s.page(""))
	for _, step := range []struct{ press, shows string }{
		{"Runs", "h1"},
		{tripRun, ".why"},
		{"timeline", "svg .axis"},
		{"undo", ".undone li"},
		{"graph", "svg .node"},
		{"tree", ".tree li"},
		{"BookHotel", "aside h2"},
	} {
		b.pressTo(step.press)
		b.must(chromedp.Do(b.ctx, chromedp.WaitReady(chromedp.CSS(step.shows))))
	}
	if text := b.texts("aside")[0]; !strings.Contains(text, "booking") {
		t.Errorf("the atom: %s", text)
	}
	for _, p := range b.took() {
		t.Error(p)
	}
}

// pressTo presses Tab until the element with the focus has a text, and then Enter.
func (b *tab) pressTo(text string) {
	b.t.Helper()
	b.pressWhere(`document.activeElement.textContent.trim() == ` + quote(text))
}

// pressWhere presses Tab until a condition holds, and then Enter.
func (b *tab) pressWhere(condition string) {
	b.t.Helper()
	for range 200 {
		b.must(chromedp.Do(b.ctx, chromedp.KeyEvent("\t")))
		if eval[bool](b, `!!(`+condition+`)`) {
			if _, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent("\r")); err != nil {
				b.t.Fatal(err)
			}
			return
		}
	}
	b.t.Fatalf("Tab does not reach %s", condition)
}
