package interop_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pictures is where TestScreenshots leaves the pictures of the docs.
var pictures = flag.String("pictures", "", "write the pictures of the docs to this folder")

// A picture is one of the docs.
type picture struct {
	name   string
	width  int64
	height int64
	page   func(*site) string
	shows  string // a selector of what must be in it
}

// picturesOfDocs are the pictures that README.md and docs/how-to/use-the-console.md show.
var picturesOfDocs = []picture{
	{"undo", 1100, 800, func(s *site) string { return s.page("run", "id", tripRun, "view", "undo") }, ".undone li"},
	{"graph", 1100, 890, func(s *site) string { return s.page("run", "id", tripRun, "view", "graph", "atom", "BookHotel") }, "svg .node"},
	{"runs", 1100, 680, func(s *site) string { return s.page("runs") }, "table"},
	{"narrow", 360, 740, func(s *site) string { return s.page("run", "id", stuckRun, "view", "undo") }, "main"},
}

// mostPicture is how many bytes a picture may have.
const mostPicture = 150 << 10

// TestScreenshots takes the pictures of the docs, light and dark. With -pictures it leaves them.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	s := shared(t)
	folder := *pictures
	if folder == "" {
		folder = t.TempDir()
	}
	for _, dark := range []bool{false, true} {
		b := open(t, look{1100, dark, true})
		for _, p := range picturesOfDocs {
			b.resize(p.width, p.height)
			b.visit(p.page(s))
			b.must(chromedp.Do(b.ctx, chromedp.WaitReady(chromedp.CSS(p.shows))))
			quality := int64(90)
			taken, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
				Format: page.CaptureScreenshotFormatWebp, Quality: &quality,
			})
			b.must(err)
			theme := map[bool]string{false: "light", true: "dark"}[dark]
			file := filepath.Join(folder, fmt.Sprintf("console-%s-%s.webp", p.name, theme))
			if len(taken.Data) == 0 || len(taken.Data) > mostPicture {
				t.Errorf("%s has %d bytes", file, len(taken.Data))
			}
			if err := os.WriteFile(file, taken.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
