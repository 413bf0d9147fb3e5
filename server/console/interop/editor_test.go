package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// payment is a definition with a state of each kind that matters here. Its tasks are those that AWS has, so that it may
// come from the network.
const payment = `{
  "StartAt": "Pay",
  "States": {
    "Pay": {"Type": "Task", "Resource": "arn:aws:lambda:eu-west-1:123456789012:function:pay", "Next": "Hour"},
    "Hour": {"Type": "Wait", "Seconds": 3600, "Next": "Done"},
    "Done": {"Type": "Succeed"}
  }
}
`

const paymentMocks = `{"Pay": {"Return": {"receipt": 7}}}`

// editorSite returns a site of its own, in which the definition payment is stored.
func editorSite(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.dir, "payment.asl.json"), []byte(payment), 0o600); err != nil {
		t.Fatal(err)
	}
	s.server = serve(t, s.dir, "serve", "payment.asl.json", "--log-level", "warn")
	t.Cleanup(s.kill)
	return s
}

// post sends JSON to the API, and reads the answer.
func (s *site) post(ctx context.Context, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/api/v1/"+path, strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// trialPage returns the address of the page of a run that was tried.
func trialPage(t *testing.T, s *site) string {
	t.Helper()
	var tried struct {
		Trial string
		Run   struct{ Run string }
	}
	if err := s.post(t.Context(), "try", map[string]any{"text": payment, "mocks": json.RawMessage(paymentMocks)}, &tried); err != nil {
		t.Fatal(err)
	}
	return s.page("trial/"+tried.Trial+"/run", "id", tried.Run.Run, "view", "graph")
}

// keys presses keys.
func (b *tab) keys(text string) {
	b.t.Helper()
	for _, key := range text {
		b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(string(key))))
	}
}

// ready waits until the page has what a selector selects.
func (b *tab) ready(selector string) {
	b.t.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.WaitReady(chromedp.CSS(selector))))
}

// tabTo presses Tab until a condition holds.
func (b *tab) tabTo(condition string) {
	b.t.Helper()
	for range 200 {
		b.keys("\t")
		if eval[bool](b, `!!(`+condition+`)`) {
			return
		}
	}
	b.t.Fatalf("Tab does not reach %s", condition)
}

// cursorAfter puts the cursor of the editor behind a text.
func (b *tab) cursorAfter(text string) {
	b.t.Helper()
	eval[bool](b, `(a => { a.focus(); const at = a.value.indexOf(`+quote(text)+`) + `+fmt.Sprint(len(text))+`; a.setSelectionRange(at, at); return true })(document.querySelector("#text"))`)
}

// TestEditor writes a definition with the keyboard: an error and its place are shown, and vanish with its fix. Then the
// definition is tried, and stored. With scripts all of that happens on the page, and the text area stays as it is.
func TestEditor(t *testing.T) {
	t.Parallel()
	for _, l := range []look{{1280, false, true}, {360, true, true}, {1280, false, false}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			s := editorSite(t)
			b := open(t, l)
			b.visit(s.page("definitions"))
			b.pressTo("payment")
			b.ready("pre.text")
			b.pressTo("Edit")
			b.ready("[data-graph=new] svg")
			eval[bool](b, `window.area = document.querySelector("#text"), true`)

			b.cursorAfter(`"Next": "Done`)
			b.keys("x")
			eval[bool](b, `window.graph = document.querySelector("[data-graph=new] svg"), true`)
			b.check(l)
			b.ready(`#checked [data-line="5"]`)
			if got := b.texts("#checked .problems li"); len(got) != 1 || !strings.Contains(got[0], "Donex") || !strings.Contains(got[0], "Fix") {
				t.Errorf("the problems are %q", got)
			}
			if l.script {
				b.stays(t)
			}
			b.cursorAfter("Donex")
			b.keys("\b")
			b.check(l)
			b.ready(`#checked:not(:has([data-line])) [data-graph=new] svg`)
			if got := b.texts("#count"); got[0] != "No problem" {
				t.Errorf("after the fix it says %q", got)
			}
			if l.script && !eval[bool](b, `window.graph.isConnected && !document.querySelector("[data-old]")`) {
				t.Error("the graph has not changed, and is another one")
			}
			if l.script {
				b.redraws("Done", "Gone")
				b.redraws("Gone", "Done")
			}

			b.try(t, l)
			b.store(t, s, l)
			for _, p := range b.took() {
				t.Error(p)
			}
		})
	}
}

// check presses Check if there are no scripts: with them the problems come by themselves.
func (b *tab) check(l look) {
	b.t.Helper()
	if !l.script {
		b.pressWhere(`document.activeElement.value == "check"`)
	}
}

// stays checks that the text area was not replaced, that the cursor is where it was, and that the line is marked. The
// link to the problem leads to its place.
func (b *tab) stays(t *testing.T) {
	t.Helper()
	got := eval[struct {
		Same  bool
		Text  string
		Marks string
	}](b, `({Same: window.area === document.activeElement && area.isConnected, Text: area.value.slice(0, area.selectionStart).split("\n").at(-1),
		Marks: document.querySelector("[data-marks]").textContent.split("\n")[4]})`)
	if !got.Same || !strings.HasSuffix(got.Text, `"Next": "Donex`) || !strings.HasPrefix(got.Marks, "✗") {
		t.Errorf("after the answer: %+v", got)
	}
	b.tabTo(`document.activeElement.matches("#checked [data-line]")`)
	b.keys("\r")
	place := eval[string](b, `document.activeElement.id + " " + area.value.slice(area.selectionStart).split("\n")[0]`)
	if !strings.HasPrefix(place, `text "Donex"`) {
		t.Errorf("the link leads to %q", place)
	}
}

// redraws renames a state, and waits until the graph has the new name.
func (b *tab) redraws(from, to string) {
	b.t.Helper()
	eval[bool](b, `(area.value = area.value.replaceAll(`+quote(from)+`, `+quote(to)+`), area.dispatchEvent(new Event("input", {bubbles: true})), true)`)
	b.await("the graph is drawn anew", `document.querySelector("[data-graph=new] svg")?.textContent.includes(`+quote(to)+`)`)
}

// try tries the definition with a mock, and looks at its run.
func (b *tab) try(t *testing.T, l look) {
	t.Helper()
	eval[bool](b, `(m => { m.closest("details").open = true; m.value = `+quote(paymentMocks)+`; return true })(document.querySelector("[name='f.mocks']"))`)
	if l.script {
		b.tabTo(`document.activeElement.value == "try"`)
		b.keys("\r")
	} else {
		b.pressWhere(`document.activeElement.value == "try"`)
	}
	b.ready("#tried a")
	if got := b.texts("#tried")[0]; !strings.Contains(got, "SUCCESS") || !strings.Contains(got, "1h0m") || !strings.Contains(got, "Pay → Hour → Done") {
		t.Errorf("the trial: %q", got)
	}
	if got := eval[string](b, `document.querySelector("#text").value`); got != payment {
		t.Errorf("the text is %q", got)
	}
	page := eval[string](b, `document.querySelector("#tried a").href`)
	seen := open(t, l)
	for view, want := range map[string]string{"tree": "Hour", "graph": "SUCCESS", "timeline": "Pay", "history": "Hour"} {
		seen.visit(strings.Replace(page, "view=graph", "view="+view, 1))
		if got := strings.Join(seen.texts("main"), " "); !strings.Contains(got, want) || !strings.Contains(got, "tried in memory") {
			t.Errorf("%s of the trial: %s", view, got)
		}
	}
	for _, p := range seen.took() {
		t.Error(p)
	}
}

// store stores what is in the editor as a new version.
func (b *tab) store(t *testing.T, s *site, l look) {
	t.Helper()
	b.cursorAfter(`"Seconds": 3600`)
	b.keys("0")
	b.check(l)
	b.ready(`#checked:not(:has([data-line]))`)
	if l.script {
		b.tabTo(`document.activeElement.value == "store"`)
		b.keys("\r")
	} else {
		b.pressWhere(`document.activeElement.value == "store"`)
	}
	b.ready("pre.text")
	if got := b.texts("main")[0]; !strings.Contains(got, "Stored") || !strings.Contains(got, "payment version 2") || !strings.Contains(got, "36000") {
		t.Errorf("after it was stored: %s", got)
	}
	text, err := fetch(t.Context(), s.address+"/api/v1/definitions?flow=payment")
	if err != nil || strings.Count(text, `"flow"`) != 2 {
		t.Errorf("stored are %s, %v", text, err)
	}
}

// TestEditorExamples tries the examples that an empty editor offers, without a change: the work of the first state is
// undone.
func TestEditorExamples(t *testing.T) {
	t.Parallel()
	s := editorSite(t)
	for language, way := range map[string]string{"ASL": "Reserve → Charge", "SM4C": "Reserving → Charging"} {
		b := open(t, look{1280, false, false})
		b.visit(s.page("edit"))
		b.pressTo(language)
		b.ready("#checked [data-graph=new] svg")
		if got := b.texts("#count"); got[0] != "No problem" {
			t.Errorf("%s: it says %q", language, got)
		}
		b.pressWhere(`document.activeElement.value == "try"`)
		b.ready("#tried a")
		if got := b.texts("#tried")[0]; !strings.Contains(got, "REVERTED") || !strings.Contains(got, way) {
			t.Errorf("%s: the trial: %q", language, got)
		}
		for _, p := range b.took() {
			t.Error(p)
		}
	}
}

// TestEditorSpeed prints how long it takes from a change of a text of 50 KB until its problems are shown.
func TestEditorSpeed(t *testing.T) {
	s := editorSite(t)
	b := open(t, look{1280, false, true})
	b.visit(s.page("edit"))
	var text strings.Builder
	text.WriteString(`{"StartAt": "S0", "States": {`)
	for i := 0; text.Len() < 50<<10; i++ {
		fmt.Fprintf(&text, "\"S%d\": {\"Type\": \"Task\", \"Resource\": \"arn:aws:lambda:eu-west-1:123456789012:function:pay\",\n \"Next\": \"S%d\"},\n", i, i+1)
	}
	last := strings.Count(text.String(), "Next")
	fmt.Fprintf(&text, `"S%d": {"Type": "Succeed"}}}`, last)
	const change = `new Promise(done => {
		const checked = document.querySelector("#checked [data-found]"), area = document.querySelector("#text"), begin = performance.now();
		const seen = new MutationObserver(() => { seen.disconnect(); requestAnimationFrame(() => done(performance.now() - begin)); });
		seen.observe(checked, {subtree: true, childList: true, characterData: true, attributes: true});
		area.value = %s;
		area.dispatchEvent(new Event("input", {bubbles: true}));
	})`
	whole := text.String()
	took := map[bool][]time.Duration{}
	for i := range 12 {
		wrong, now := i%2 == 0, whole
		if wrong {
			now = strings.Replace(whole, `"Next": "S7"`, `"Next": "none"`, 1)
		}
		millis := eval[float64](b, fmt.Sprintf(change, quote(now)))
		took[wrong] = append(took[wrong], time.Duration(millis*float64(time.Millisecond)))
		if got := len(b.texts("#checked .problems li")); (got > 0) != wrong {
			t.Errorf("with a problem: %t: there are %d problems", wrong, got)
		}
	}
	for wrong, what := range map[bool]string{true: "a problem", false: "no problem"} {
		t.Logf("%s: %v", what, took[wrong])
	}
	report("from a change of a text of 50 KB to its problems", slices.Concat(took[true], took[false]), "150 ms", "12 changes")
}
