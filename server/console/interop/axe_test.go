package interop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe returns the source of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("node", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skipf("needs axe-core: npm ci --prefix node: %v", err)
	}
	return string(text)
}

// A violation is what axe-core finds.
type violation struct {
	Rule, Impact, Help string
	At                 []string
}

func (v violation) String() string {
	return fmt.Sprintf("%s (%s): %s: %s", v.Rule, v.Impact, v.Help, clip(strings.Join(v.At, " | ")))
}

// violations checks the open page with axe-core, in a world that the policy and the scripts of the page do not touch.
func violations(t *testing.T, b *tab, source string) []violation {
	t.Helper()
	frames, err := chromedp.Call(b.ctx, page.GetFrameTree, cdp.Empty{})
	b.must(err)
	world, err := chromedp.Call(b.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{
		FrameID: frames.FrameTree.Frame.ID, WorldName: "axe",
	})
	b.must(err)
	in := func(p *runtime.EvaluateParams) { p.ContextID = world.ExecutionContextID }
	_, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool](source+"; true", in))
	b.must(err)
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]violation](`axe.run({resultTypes: ["violations"]}).then(r =>
		r.violations.map(v => ({Rule: v.id, Impact: v.impact, Help: v.help, At: v.nodes.slice(0, 3).map(n => n.html.slice(0, 120) + " " +
		(n.any[0]?.message ?? ""))})))`, in, chromedp.EvalAwaitPromise))
	b.must(err)
	return found
}

// TestAccessible: axe-core finds nothing to object to on any page, dark and light, wide and narrow. Each page is seen in
// two looks, which differ in both: the next page in the other two.
func TestAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := shared(t)
	pages := everyPage(t, s)
	for i, l := range looks {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			first, count := map[string]string{}, map[string]int{}
			for n, address := range pages {
				if pair := i == 0 || i == len(looks)-1; pair != (n%2 == 0) {
					continue
				}
				b.visit(address)
				for _, v := range violations(t, b, source) {
					if count[v.Rule]++; count[v.Rule] == 1 {
						first[v.Rule] = fmt.Sprintf("%s: %v", strings.TrimPrefix(address, s.address), v)
					}
				}
			}
			for rule, what := range first {
				t.Errorf("%d of %d pages: %s", count[rule], len(pages), what)
			}
		})
	}
}
