package interop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestEditorPages: axe-core finds nothing to object to on the editor with problems, on the pages of a trial, and on the
// picture of what changed. Hostile texts in a definition run no script, and make no page wider than the window. Tab
// reaches everything.
func TestEditorPages(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := editorSite(t)
	var hash struct {
		Definition string
	}
	hostile := `{"Comment": ` + string(asJSON(t, hostileTexts[0])) + `, "StartAt": "Pay", "States": {
		"Pay": {"Type": "Pass", "Next": ` + string(asJSON(t, hostileTexts[1])) + `},
		` + string(asJSON(t, hostileTexts[1])) + `: {"Type": "Succeed"}}}`
	if err := s.post(t.Context(), "definitions", map[string]any{"flow": "payment", "text": hostile}, &hash); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Definitions []struct{ Definition string }
	}
	text, err := fetch(t.Context(), s.address+"/api/v1/definitions?flow=payment")
	if err == nil {
		err = json.Unmarshal([]byte(text), &all)
	}
	if err != nil || len(all.Definitions) != 2 {
		t.Fatal(err, text)
	}
	trial := trialPage(t, s)
	pages := []string{
		s.page("edit"), s.page("edit", "hash", hash.Definition), trial, strings.Replace(trial, "=graph", "=timeline", 1),
		s.page("definition", "hash", hash.Definition, "with", all.Definitions[1].Definition),
	}
	for _, l := range []look{{1280, false, true}, {360, true, true}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			for i, address := range pages {
				b.visit(address)
				page := strings.TrimPrefix(address, s.address)
				if i == 1 { // two states that are not there
					b.cursorAfter(`"StartAt": "Pay`)
					b.keys("x")
					b.ready("#checked [data-line]")
					if got := eval[bool](b, `document.querySelector("#checked [data-old] + *") != null`); !got {
						t.Error("the last graph is gone")
					}
				}
				for _, v := range violations(t, b, source) {
					t.Errorf("%s: %v", page, v)
				}
				if got := eval[int64](b, `"ran" in window ? 1e6 : document.documentElement.scrollWidth`); got > l.width {
					t.Errorf("%s: %d pixels wide in a window of %d", page, got, l.width)
				}
				eval[bool](b, `document.querySelector(".skip").focus(), true`)
				stops := eval[int](b, focusable)
				for n := range stops - 1 {
					b.must(chromedp.Do(b.ctx, chromedp.KeyEvent("\t")))
					if f := eval[focus](b, focused); f.Place != n+1 || !f.Marked || !f.Seen {
						t.Errorf("%s: after %d times Tab: %+v", page, n+1, f)
						break
					}
				}
				eval[bool](b, `(f => { f && f.reset(); return true })(document.querySelector("form[data-editor]"))`) // nothing to lose
			}
			for _, p := range b.took() {
				t.Error(p)
			}
		})
	}
}

// asJSON returns a value as JSON.
func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
