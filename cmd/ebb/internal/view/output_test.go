package view

import (
	"testing"
)

// TestOutputInColor: on a terminal only the command's own colors pass.
func TestOutputInColor(t *testing.T) {
	t.Parallel()
	own := Page{Color: true}.color("a\x1b[5m\x1b[2Jb", red)
	if got, want := visibleInColor(own+"\x1b[31;5m\n"), "\x1b[31ma\\x1b[5m\\x1b[2Jb\x1b[0m\\x1b[31;5m\n"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}
