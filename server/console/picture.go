package console

import (
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
)

// zooms are the sizes of a graph in percent.
var zooms = []int{25, 50, 75, 100, 150, 200, 300, 400}

const wholeSize = 100

// mostElements is how many elements a graph on a page has at most. With more, browsers scroll and zoom haltingly.
//
//limit:shown elements of a graph on a page of the console | {} | a link to the file
const mostElements = 2500

// isLargePicture reports whether a graph has too many elements for a page.
func isLargePicture(v *draw.View) bool {
	const ofNode, ofOther = 6, 2 // see draw.SVG
	return ofNode*len(v.Nodes)+ofOther*(len(v.Edges)+len(v.Groups)) > mostElements
}

func tooLarge() node { return soft(say("The graph is too large to be drawn here.")) }

// pictured shows a graph that can be scrolled, zoomed and downloaded. The address of the page has the zoom. A large
// graph can be downloaded only.
func (v *visit) pictured(view draw.View, o draw.SVGOptions) node {
	if v.wantsFile() {
		v.file = draw.SVG(view, draw.SVGOptions{Selected: o.Selected, Undone: o.Undone})
	}
	if isLargePicture(&view) {
		return fragment{tooLarge(), v.downloads()}
	}
	zoom, _ := strconv.Atoi(v.query.Get("zoom"))
	at := slices.Index(zooms, zoom)
	if at < 0 { // none, or one that no link leads to
		zoom, at = wholeSize, slices.Index(zooms, wholeSize)
	}
	o.Zoom = float64(zoom) / wholeSize
	to := func(next int, key, mark string, name string) node {
		leads := attr("aria-disabled", "true")
		if next >= 0 && next < len(zooms) {
			size := ""
			if zooms[next] != wholeSize {
				size = strconv.Itoa(zooms[next])
			}
			leads = href(v.here("zoom", size))
		}
		return el("a", class("button"), leads, attr("role", "link"), attr("data-zoom", key), sayAttr("aria-label", name),
			words(mark))
	}
	v.script = v.zooms
	return fragment{
		el("p", class("soft"), attr("data-zooms", strings.Trim(fmt.Sprint(zooms), "[]")),
			to(at-1, "-", "−", "Smaller"), words(" "),
			el("span", attr("data-percent", ""), attr("role", "status"), words(strconv.Itoa(zoom)+" %")), words(" "),
			to(at+1, "+", "+", "Larger"), words(" "), v.downloads()),
		framed(drawn(view, o), "graph"),
	}
}

// downloads is a link to the picture of the page as a file.
func (v *visit) downloads() node {
	return el("a", href(v.here("svg", "1")), attr("download", ""), say("Download as SVG"))
}

// wantsFile reports whether the answer is the picture of the page, and not the page.
func (v *visit) wantsFile() bool { return v.query.Get("svg") != "" }

// here returns the address of this page with other values of its query.
func (v *visit) here(pairs ...string) address {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.query)) {
		all = append(all, name, v.query.Get(name))
	}
	to := link(pagePath(v.page), append(all, pairs...)...)
	if v.query.Has("below") && v.query.Get("below") == "" { // link leaves it out, but it says that the level is wanted
		to += "&below="
	}
	return to
}

// sendFile sends the picture of the page as a file.
func (v *visit) sendFile(w http.ResponseWriter) {
	name := strings.Join(strings.FieldsFunc(v.query.Get("id")+" "+v.page+" "+v.query.Get("view"), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}), "-")
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name + ".svg"}))
	drawing(v.file).write(&writer{to: w, hides: !v.operates})
}

// pictureStyle is the style sheet of a chart that stands on its own.
func pictureStyle() node {
	return el("style", drawing("svg.ebb{background:var(--bg)}"+draw.SVGStyle()+chartStyle))
}
