package view

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// undoneTrip is the run of README's picture.
const undoneTrip = `
	0 run RUNNING
	0 BookFlight RUNNING
	306 BookFlight SUCCESS
	306 BookHotel RUNNING
	614 BookHotel SUCCESS
	614 BookCar RUNNING
	923 BookCar SUCCESS
	923 Pay RUNNING
	1230 Pay FAILURE code=PaymentDeclined message=the_card_ending_in_0000_has_no_money_left
	1230 BookCar REVERTING
	1485 BookCar REVERTED
	1485 BookHotel REVERTING
	1741 BookHotel REVERTED
	1741 BookFlight REVERTING
	1998 BookFlight REVERTED
	1998 run REVERTED
	1998`

// TestReadmePicture compares README's picture of an undone run with the tree that ebb show
// prints. With -update it rewrites the picture.
func TestReadmePicture(t *testing.T) {
	t.Parallel()
	tr, now := told(t, undoneTrip)
	got := terminalPicture("$ ebb show trip-1", Tree(tr, now, Page{Width: 100, Color: true}))
	file := filepath.Join("..", "..", "..", "..", "docs", "images", "undone-run.svg")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// styles are the classes of the picture, by the terminal's codes.
var styles = map[string]string{"1": "bold", "2": "dim", "31": "red", "33": "yellow", "35": "purple"}

var style = regexp.MustCompile(`\x1b\[(\d+)m(.*?)\x1b\[0m`)

// terminalPicture draws the lines of a terminal as SVG, for light and dark pages.
func terminalPicture(command string, lines []string) string {
	const lineHeight, width = 20, 800
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-label="an undone run">
<style>
  rect { fill: #f6f8fa; stroke: #d0d7de } text { fill: #1f2328; font: 13px ui-monospace, Menlo, Consolas, monospace; white-space: pre }
  .bold { font-weight: bold } .dim { fill: #656d76 } .red { fill: #cf222e } .yellow { fill: #9a6700 } .purple { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    rect { fill: #161b22; stroke: #30363d } text { fill: #e6edf3 } .dim { fill: #8b949e } .red { fill: #ff7b72 } .yellow { fill: #d29922 } .purple { fill: #d2a8ff }
  }
</style>
<rect x="0.5" y="0.5" width="%[3]d" height="%[4]d" rx="6"/>
`, width, (len(lines)+2)*lineHeight, width-1, (len(lines)+2)*lineHeight-1)
	for i, line := range append([]string{command}, lines...) {
		fmt.Fprintf(&b, `<text x="16" y="%d" xml:space="preserve">%s</text>`+"\n", (i+1)*lineHeight+8, styled(line))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// styled returns a line of a terminal as the content of an SVG text.
func styled(line string) string {
	var b strings.Builder
	for at := style.FindStringSubmatchIndex(line); at != nil; at = style.FindStringSubmatchIndex(line) {
		b.WriteString(escaped(line[:at[0]]))
		fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, styles[line[at[2]:at[3]]], escaped(line[at[4]:at[5]]))
		line = line[at[1]:]
	}
	return b.String() + escaped(line)
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}
