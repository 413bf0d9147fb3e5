package view

import (
	"testing"
)

// TestOutputInColour: on a terminal only the command's own colours pass.
func TestOutputInColour(t *testing.T) {
	t.Parallel()
	own := Page{Colour: true}.color("a\x1b[5m\x1b[2Jb", red)
	if got, want := visibleInColour(own+"\x1b[31;5m\n"), "\x1b[31ma\\x1b[5m\\x1b[2Jb\x1b[0m\\x1b[31;5m\n"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}
