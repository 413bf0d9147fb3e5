package draw

// A colour is how a state is shown.
type colour struct {
	fill, line, text string
	dashed           bool
}

// colours are those of the states of tasks and retries; what is not begun has
// none. They differ in
// brightness too, so a picture can be read without telling red from green.
var colours = map[string]colour{
	"RUNNING":        {fill: "#fff3bf", line: "#b08900", text: "#000000"},
	"RETRYING":       {fill: "#fff3bf", line: "#b08900", text: "#000000", dashed: true},
	"SUCCESS":        {fill: "#c3f0ca", line: "#2b8a3e", text: "#000000"},
	"FAILURE":        {fill: "#c92a2a", line: "#7a1212", text: "#ffffff"},
	"REVERTING":      {fill: "#d0ebff", line: "#1864ab", text: "#000000", dashed: true},
	"REVERTED":       {fill: "#d0ebff", line: "#1864ab", text: "#000000"},
	"REVERT_FAILURE": {fill: "#5f0f40", line: "#2d0720", text: "#ffffff"},
	"IGNORE":         {fill: "#f1f3f5", line: "#adb5bd", text: "#868e96", dashed: true},
	"CANCELLED":      {fill: "#dee2e6", line: "#495057", text: "#000000"},
}
