package interop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(key)))
	}
}

// await waits until a condition holds in the page.
func (b *tab) await(what, condition string) {
	b.t.Helper()
	met := eval[bool](b, `new Promise(done => {
		const end = Date.now() + 30000, look = () => (`+condition+`) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20);
		look();
	})`)
	if !met {
		b.t.Fatalf("%s: %q", what, b.texts("[role=tree]"))
	}
}

// activeStep is the text of the row that the keys have reached.
const activeStep = `(document.querySelector("#active-step")?.textContent ?? "")`

// walkLevel unfolds the first row of a tree, and goes to the last of its items and back, with keys alone. The page
// never has more elements than the rows that it shows.
func (b *tab) walkLevel(tree string, items int) {
	b.t.Helper()
	eval[bool](b, `(document.querySelector(`+quote(tree)+`).focus(), true)`)
	b.press("j", "k", kb.ArrowRight)
	b.await("it unfolds", fmt.Sprintf(`document.querySelector("[role=treeitem][aria-setsize='%d']") !== null`, items))
	b.press(kb.End)
	last := fmt.Sprintf("[aria-level='2'][aria-posinset='%d']", items)
	b.await("the last row", activeStep+` !== "" && document.querySelector("#active-step`+last+`[data-key]") !== null`)
	if elements := eval[int](b, `document.querySelectorAll("*").length`); elements > mostElements {
		b.t.Errorf("at the end the page has %d elements", elements)
	}
	b.press(kb.Home, kb.ArrowLeft)
	b.await("it folds", `document.querySelector("#active-step")?.getAttribute("aria-expanded") === "false"`)
}

// TestOpenLevels: the address of a tree opens the levels that are unfolded, and the rows that are seen.
func TestOpenLevels(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, look{1280, false, true})
	b.visit(s.page("run", "id", manyRun))
	eval[bool](b, `(document.querySelector("[role=tree]").focus(), true)`)
	b.press("j", "k", kb.ArrowRight)
	b.await("it unfolds", `document.querySelector("[aria-level='2'][aria-setsize='100'][data-key]") !== null`)
	b.press("j", "j", "j", kb.ArrowRight)
	b.await("an item unfolds", `document.querySelector("[aria-level='3'][data-key='Each[2]/Inner']") !== null`)
	b.press(kb.End)
	const last = `document.querySelector("[aria-level='2'][aria-posinset='100'][data-key]")`
	b.await("the last row", last+` !== null && location.search.includes("line=")`)
	address := eval[string](b, `location.href`)
	rows := eval[[]string](b, `[...document.querySelectorAll("[role=treeitem]")].map(r => r.dataset.key)`)

	other := open(t, look{1280, false, true})
	other.visit(address)
	other.await("the same rows", `JSON.stringify([...document.querySelectorAll("[role=treeitem]")].map(r => r.dataset.key)) ===
		JSON.stringify(`+quoteAll(rows)+`)`)
	other.visit(s.page("run", "id", manyRun, "open", "7:none", "line", "-1"))
	other.await("the tree", `document.querySelector("[aria-level='1'][data-key]") !== null`)
	for _, p := range append(b.took(), other.took()...) {
		t.Error(p)
	}
}

// quoteAll returns texts as an array of JavaScript.
func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// TestLargeTree: the tree of a run of 10,000 atoms holds only the visible rows, with scripts and without. It can be
// used with the keyboard alone. The address has the chosen atom, and the rows stay where they are when the page is
// refreshed.
func TestLargeTree(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, look{1280, false, true})
	b.visit(s.page("run", "id", manyRun))
	if row := b.texts("[role=treeitem]"); len(row) != 1 || !strings.Contains(row[0], "100 SUCCESS") {
		t.Errorf("the Map is %q", row)
	}
	if stopped := eval[int](b, `(() => {
		let stopped = 0;
		const abort = XMLHttpRequest.prototype.abort, list = document.querySelector("[role=tree]");
		XMLHttpRequest.prototype.abort = function() { stopped++; abort.call(this); };
		list.focus();
		for (const key of ["ArrowRight", "ArrowLeft", "ArrowRight", "ArrowLeft"]) list.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
		return stopped;
	})()`); stopped != 2 {
		t.Errorf("folding stopped the reading of %d levels, want 2", stopped)
	}
	b.walkLevel("[role=tree]", 100)
	b.visit(s.page("run", "id", largeRun, "view", "tree"))
	b.await("the tree", `document.querySelector("[role=tree]") !== null`)
	eval[bool](b, `(document.querySelector("[role=tree]").focus(), true)`)
	b.press(kb.End)
	b.await("the last of 10,000", `document.querySelector("#active-step[aria-posinset='10000'][data-key]") !== null`)
	name := eval[string](b, `document.querySelector("#active-step").dataset.key`)
	b.press("\r")
	b.await("the atom", `document.querySelector("aside h2").textContent.includes(`+quote(name)+`)`)
	if at := eval[string](b, `new URL(location.href).searchParams.get("atom")`); at != name {
		t.Errorf("the address names %s, not %s", at, name)
	}
	// A look that the key started may not have ended, so only rows that are requested after the next look of the page
	// count.
	eval[bool](b, `(window.asked = () => performance.getEntriesByType("resource").filter(e => e.name.includes("steps?") && e.name.includes("from=9900")).length,
		window.fetch = (ask => (to, how) => { window.windowed = how.headers["Ebb-Windowed"] ?? ""; window.before = asked(); return ask(to, how); })(window.fetch), true)`)
	eval[bool](b, `(window.row = document.querySelector("#active-step"), window.at = row.getBoundingClientRect().top, dispatchEvent(new Event("ebb-refresh")), true)`)
	b.await("the same row after a look", `window.windowed !== undefined && asked() > window.before`)
	if !eval[bool](b, `row === document.querySelector("#active-step") && at === row.getBoundingClientRect().top && document.activeElement.role === "tree"`) {
		t.Error("the row moved, or lost the focus")
	}
	if !eval[bool](b, `window.windowed === "1"`) {
		t.Error("the page asks for rows that its script has")
	}
	if elements := eval[int](b, `document.querySelectorAll("*").length`); elements > mostElements {
		t.Errorf("the page has %d elements", elements)
	}
	for _, p := range b.took() {
		t.Error(p)
	}

	plain := open(t, look{360, false, false})
	plain.visit(s.page("run", "id", manyRun, "below", ""))
	for _, go1 := range []struct{ link, shows string }{
		{`a.down`, "Each[0]"}, {`li:nth-child(3) a.down`, "Each[2]/Inner"}, {`a.down`, "Each[2]/Inner[0]"}, {`nav a:nth-of-type(2)`, "Each[0]"},
	} {
		if _, err := chromedp.RunResponse(plain.ctx, chromedp.Click(chromedp.CSS("main .split "+go1.link))); err != nil {
			t.Fatal(err)
		}
		if got := eval[string](plain, `document.querySelector(".tree li").dataset.key`); got != go1.shows {
			t.Errorf("%s leads to %s, want %s", go1.link, got, go1.shows)
		}
	}
	plain.visit(s.page("run", "id", largeRun, "below", ""))
	if _, err := chromedp.RunResponse(plain.ctx, chromedp.Click(chromedp.CSS(".pages a:last-of-type"))); err != nil {
		t.Fatal(err)
	}
	if rows := plain.texts(".tree li"); len(rows) != 100 {
		t.Errorf("the last page has %d rows", len(rows))
	}
}
