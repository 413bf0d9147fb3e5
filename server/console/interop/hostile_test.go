package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// hostileTexts are what users may write where a page shows it.
var hostileTexts = []string{
	`"><script>window.ran=1;alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>`,
	`</title></style></textarea></pre></svg></script><script>alert(1)</script><!--`,
	`javascript:alert(1)//' onclick='alert(1)' style='position:fixed;inset:0`,
	`{{.}}{{template "x"}}${alert(1)}<%= alert(1) %>[[alert(1)]]&lt;script&gt;&#x3c;script&#x3e;`,
	"\u202egnp.exe\u2066\u2067\u200f\u200e שלום \u0301\u0301\u0301\u0301 \ufeff\U000e0041",
	"nul\x00 escape\x1b[31m return\rline\nSet-Cookie: a=b\r\n\r\n<script>alert(1)</script>",
	`<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=https://evil.example/"><link rel=stylesheet href=//evil.example>`,
	`https://evil.example/?"onmouseover=alert(1)`,
	`../../../etc/passwd?view=undo&id=trip#frag%00%0a`,
	strings.Repeat("W", 100<<10),
	strings.Repeat("\u6f22", 3000),
	"\xff\xfe\xc0 is no UTF-8",
}

// hostileSite creates runs with hostile texts in all places where users may write, and returns their pages.
func hostileSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(dir, "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range hostileTexts {
		if n := hostileRuns(t, store, i, text); n < 2 {
			t.Errorf("of the text %.40q only %d runs came to be", text, n)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for i, text := range hostileTexts {
		hostileMachine(t, dir, i, strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "0"))
	}
	s := &site{dir: dir, server: serve(t, dir, "serve", "--log-level", "off")}
	t.Cleanup(s.kill)
	return s
}

// fits returns the beginning of a text that has at most n bytes.
func fits(text string, n int) string {
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "")
	}
	return text
}

// hostileRuns makes runs of flows in Go: one that was undone, one whose undo failed, and one that waits. What Ebb
// refuses is shortened or left out. It returns how many runs there are.
func hostileRuns(t *testing.T, store backend.Store, i int, text string) (made int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	name, id := fits(text, 2000), fits(text, 200)
	fails := func(what string) error { return atom.Errorf(fits(text, 500), "%s %s", what, text) }
	build := func(name string, undo error) flow.Node {
		return flow.Linear(name,
			atom.Pair(name+"1", func(context.Context, struct{}) (map[string]string, error) { return map[string]string{text: text}, nil },
				func(context.Context, struct{}, atom.Outcome[map[string]string]) error { return undo }),
			atom.Func(name+"2", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, fails("failed") }))
	}
	waits := func(name string) flow.Node {
		return flow.Linear(name, atom.Awaits[string](name+"1", name, atom.Deferral{Deadline: 24 * time.Hour}))
	}
	for kind, flowOf := range map[string]func(name string) flow.Node{
		"undone": func(name string) flow.Node { return build(name, nil) },
		"stuck":  func(name string) flow.Node { return build(name, fails("not undone")) },
		"waits":  waits,
	} {
		for try, name := range []string{name, strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", "0"), "?"), fmt.Sprint("plain", i)} {
			eng, err := engine.New(flowOf(name), store)
			if err != nil {
				continue
			}
			ids := []string{
				kind + id, kind + strings.ToValidUTF8(strings.ReplaceAll(id, "\x00", "0"), "?"), fmt.Sprint(kind, i),
			}
			_, err = eng.Run(ctx, ids[try], engine.Unload(), engine.Labels(map[string]string{id: id, "x": fits(text, 256)}))
			if err != nil && errors.Is(err, storage.ErrInvalid) {
				_, err = eng.Run(ctx, ids[max(try, 1)], engine.Unload(), engine.Labels(map[string]string{"x": "plain"}))
			}
			if err == nil || !errors.Is(err, storage.ErrInvalid) {
				made++
				break
			}
			t.Logf("%.60q: %.200v", name, err)
		}
	}
	return made
}

// hostileMachine makes a run of a definition, a job of it that waits, and a schedule of its second version.
func hostileMachine(t *testing.T, dir string, i int, text string) {
	t.Helper()
	state, file := fits(text, 70), fmt.Sprintf("machine%d.asl.json", i)
	write := func(last string) {
		definition, err := json.Marshal(map[string]any{"Comment": text, "StartAt": state, "States": map[string]any{
			state: map[string]any{"Type": "Pass", "Comment": text, "Result": map[string]string{text: text}, "Next": last},
			last:  map[string]any{"Type": "Fail", "Error": text, "Cause": text},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), definition, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := "m " + fits(text, 200)
	for _, args := range [][]string{
		{"run", file, "--id=" + id, "--input", `{}`},
		{"post", file, "--id=job " + id, "--needs", "gpu=" + fits(text, 100), "--label", "x=" + fits(text, 200)},
		{"schedule", "add", "s " + fits(text, 150), "@daily", file},
		{"limit", "3", "--label", "l" + fits(text, 100)},
		{"limit", "3", "--flow", "f" + fits(text, 100)},
	} {
		last := state + "Z"
		if args[0] == "schedule" {
			last = state + "Y"
		}
		write(last)
		if out, err := try(t, dir, args...); err != nil {
			t.Logf("refused: %.60q: %v: %.200s", args, err, out)
		}
	}
}

const narrow = 360 // pixels

// TestHostile: for any texts of users, no script runs, the browser reports no problem, no request leaves the server,
// and no page becomes wider than the window.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := hostileSite(t)
	pages := hostilePages(t, s)
	for _, l := range []look{{1280, false, true}, {narrow, true, true}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			for i, address := range pages {
				if l.width > narrow && i%4 > 0 { // a narrow window has the same scripts, and is harder to fit
					continue
				}
				b.visit(address)
				page := clip(strings.TrimPrefix(address, s.address))
				climbs := strings.HasPrefix(page, "/console/..%2F") // it is refused, and no page says so
				for _, p := range b.took() {
					isAnswer := strings.Contains(p, "404 (Not Found)") || // a text that names no run
						climbs && strings.Contains(p, "403 (Forbidden)")
					if !isAnswer {
						t.Errorf("%s: %s", page, p)
					}
				}
				got := eval[struct {
					Ran       bool
					Width     int
					Tallest   int
					Title     string
					Scripts   int
					Elsewhere []string
				}](b, `({Ran: "ran" in window, Width: document.documentElement.scrollWidth, Title: document.title,
					Tallest: Math.round(Math.max(...[...document.querySelectorAll("p, tr, li, h1, h2, td")].map(e => e.getBoundingClientRect().height), 0)),
					Scripts: document.querySelectorAll("script:not([src]),iframe,object,embed,base,meta[http-equiv],[style],[onclick],[onload],[onerror]").length,
					Elsewhere: [...document.querySelectorAll("[href],[src],[action]")].map(e => e.href?.baseVal ?? e.href ?? e.src ?? e.action)
						.filter(a => new URL(a, location).origin != location.origin)})`)
				if got.Ran || got.Scripts > 0 || len(got.Elsewhere) > 0 || !climbs && !strings.HasSuffix(got.Title, "Ebb") {
					t.Errorf("%s: %+v", page, got)
				}
				if got.Tallest > 2*windowHeight {
					t.Errorf("%s: a line is %d pixels high", page, got.Tallest)
				}
				if int64(got.Width) > l.width {
					t.Errorf("%s: %d pixels wide in a window of %d", page, got.Width, l.width)
				}
			}
		})
	}
}

// hostilePages returns the pages that show hostile texts: those that links lead to, and those of addresses that a user
// makes up.
func hostilePages(t *testing.T, s *site) []string {
	t.Helper()
	from := []string{s.page(""), s.page("runs", "children", "1")}
	for _, text := range hostileTexts {
		text = fits(text, 2000) // an address has its bounds
		from = append(from, s.page("runs", "filter", text), s.page("runs", "state", text), s.page("runs", "after", text),
			s.page("run", "id", tripRun, "view", text), s.page("run", "id", text), s.page(url.PathEscape(text)))
	}
	var compared []string
	var runs struct {
		Runs []struct{ Run string }
		Next string
	}
	for next := ""; ; next = runs.Next {
		text, err := fetch(t.Context(), s.address+"/api/v1/runs?limit=100&cursor="+url.QueryEscape(next))
		if err != nil {
			t.Fatal(err)
		}
		runs.Next = ""
		if err := json.Unmarshal([]byte(text), &runs); err != nil {
			t.Fatal(err)
		}
		for _, run := range runs.Runs {
			compared = append(compared, run.Run)
			for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
				from = append(from, s.page("run", "id", run.Run, "view", view))
			}
		}
		if runs.Next == "" {
			break
		}
	}
	slices.Sort(compared)
	for i, other := range compared { // the first half of the runs, with one of the second half each
		if i >= len(compared)/2 {
			from = append(from, s.page("compare", "a", compared[i-len(compared)/2], "b", other))
		}
	}
	pages, _ := crawl(t, s.page(""), 3, append(from, comparedVersions(t, s)...)...)
	t.Logf("%d runs, %d pages", len(runs.Runs), len(pages))
	return pages
}
