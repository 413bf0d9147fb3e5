package draw

// A color is how a state is drawn.
type color struct {
	fill, line, text string
	dashed           bool
}

// colors are those of the states of tasks and retries, of what stays done, of what tests cover, and of what changed.
// What is not begun has none. They differ in brightness too, so a picture can be read without telling red from green.
//
//nolint:dupl // the dark colors are as many
var colors = map[string]color{
	"RUNNING":        {fill: "#fff3bf", line: "#b08900", text: "#000000"},
	"RETRYING":       {fill: "#fff3bf", line: "#b08900", text: "#000000", dashed: true},
	"SUCCESS":        {fill: "#c3f0ca", line: "#2b8a3e", text: "#000000"},
	"FAILURE":        {fill: "#c92a2a", line: "#7a1212", text: "#ffffff"},
	"REVERTING":      {fill: "#d0ebff", line: "#1864ab", text: "#000000", dashed: true},
	"REVERTED":       {fill: "#d0ebff", line: "#1864ab", text: "#000000"},
	"REVERT_FAILURE": {fill: "#5f0f40", line: "#2d0720", text: "#ffffff"},
	"STAYS_DONE":     {fill: "#e5dbff", line: "#5f3dc4", text: "#000000"},
	"MAY_STAY_DONE":  {fill: "#e5dbff", line: "#5f3dc4", text: "#000000", dashed: true},
	"IGNORE":         {fill: "#f1f3f5", line: "#adb5bd", text: "#868e96", dashed: true},
	"COVERED":        {fill: "#c3f0ca", line: "#2b8a3e", text: "#000000"},
	"MISSED":         {fill: "#ffe8cc", line: "#d9480f", text: "#000000", dashed: true},
	"CANCELLED":      {fill: "#dee2e6", line: "#495057", text: "#000000"},
	Added:            {fill: "#c3f0ca", line: "#2b8a3e", text: "#000000"},
	Removed:          {fill: "#f1f3f5", line: "#495057", text: "#495057", dashed: true},
	Changed:          {fill: "#fff3bf", line: "#b08900", text: "#000000"},
}

// takenLine is the color of an edge that a run took.
const takenLine = "#1864ab"
