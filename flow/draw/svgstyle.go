package draw

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// darkColors are the colors of states on a dark page. They have the meanings of colors.
//
//nolint:dupl // the light colors are as many
var darkColors = map[string]color{
	"RUNNING":        {fill: "#423608", line: "#f2c744", text: "#fff3c4"},
	"RETRYING":       {fill: "#423608", line: "#f2c744", text: "#fff3c4", dashed: true},
	"SUCCESS":        {fill: "#12351f", line: "#4cc26b", text: "#d3f6dc"},
	"FAILURE":        {fill: "#8c1d1d", line: "#ff8f8f", text: "#ffffff"},
	"REVERTING":      {fill: "#10304d", line: "#66b5f5", text: "#d6ecff", dashed: true},
	"REVERTED":       {fill: "#10304d", line: "#66b5f5", text: "#d6ecff"},
	"REVERT_FAILURE": {fill: "#6b1149", line: "#ff8ac9", text: "#ffffff"},
	"STAYS_DONE":     {fill: "#2e2358", line: "#a78bfa", text: "#ece5ff"},
	"MAY_STAY_DONE":  {fill: "#2e2358", line: "#a78bfa", text: "#ece5ff", dashed: true},
	"IGNORE":         {fill: "#22262b", line: "#5c636b", text: "#9aa3ad", dashed: true},
	"COVERED":        {fill: "#12351f", line: "#4cc26b", text: "#d3f6dc"},
	"MISSED":         {fill: "#4a2a10", line: "#ff9a4d", text: "#ffe6d3", dashed: true},
	"CANCELLED":      {fill: "#2b3036", line: "#8d96a0", text: "#dfe4ea"},
	Added:            {fill: "#12351f", line: "#4cc26b", text: "#d3f6dc"},
	Removed:          {fill: "#22262b", line: "#8d96a0", text: "#b8c0c9", dashed: true},
	Changed:          {fill: "#423608", line: "#f2c744", text: "#fff3c4"},
}

const (
	lightPage = "--bg:#fff;--ink:#1c2024;--soft:#60646c;--line:#8b8d98;--box:#f9f9fb;--edge:#b0b4ba;--taken:#1864ab"
	darkPage  = "--bg:#111317;--ink:#edeef0;--soft:#a0a6ae;--line:#71767f;--box:#1b1e23;--edge:#5a6169;--taken:#66b5f5"
)

// SVGStyle returns the style sheet of the images of [SVG].
func SVGStyle() string {
	var b strings.Builder
	b.WriteString("svg.ebb{" + lightPage + ";font:13px system-ui,sans-serif}" +
		".ebb text{fill:var(--ink);stroke:none}.ebb .label{fill:var(--soft);font-size:11px;paint-order:stroke;" +
		"stroke:var(--bg);stroke-width:3px}" +
		".ebb .node .state{font-size:11px}" +
		".ebb .shape{fill:var(--box);stroke:var(--line);stroke-width:1.25}.ebb .twice{fill:none;stroke:var(--line)}" +
		".ebb .dot{fill:var(--line)}.ebb .group{fill:none;stroke:var(--edge);stroke-dasharray:4 3}" +
		".ebb .edge{fill:none;stroke:var(--edge);stroke-width:1.5}.ebb .maybe{stroke-dasharray:5 4}" +
		".ebb .taken{stroke:var(--taken);stroke-width:2.25}.ebb .tip{fill:var(--soft)}" +
		".ebb .undo{fill:none;stroke:var(--taken);stroke-width:2;stroke-dasharray:2 4}" +
		".ebb .selected .shape{stroke-width:3}.ebb a:focus-visible .shape{stroke-width:3;stroke:var(--taken)}\n")
	writeColors(&b, colors)
	b.WriteString("@media (prefers-color-scheme:dark){svg.ebb{" + darkPage + "}\n")
	writeColors(&b, darkColors)
	b.WriteString("}")
	return b.String()
}

func writeColors(b *strings.Builder, all map[string]color) {
	for _, state := range slices.Sorted(maps.Keys(all)) {
		c, class := all[state], stateClass(state)
		fmt.Fprintf(b, ".ebb .%[1]s .shape{fill:%[2]s;stroke:%[3]s}.ebb .%[1]s .twice{stroke:%[3]s}"+
			".ebb .%[1]s text{fill:%[4]s}", class, c.fill, c.line, c.text)
		if c.dashed {
			fmt.Fprintf(b, ".ebb .%s .shape{stroke-dasharray:5 3}", class)
		}
		b.WriteByte('\n')
	}
}
