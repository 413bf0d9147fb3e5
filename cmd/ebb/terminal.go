package main

import (
	"os"

	"fmt"
	"golang.org/x/term"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
)

// reporter returns the one that fits where output goes to. t is what is known of
// the run so far.
func (s *session) reporter(t *inspect.Tree) reporter {
	if f := s.out.terminal(); f != nil && s.output == asText {
		return newPainter(s.out.screen(), func() (int, int) { return sizeOf(f) }, t, s.page().colour)
	}
	return s.plainReporter()
}

// plainReporter returns the one for what is no terminal.
func (s *session) plainReporter() reporter {
	if s.output == asJSON {
		return &jsonReporter{out: newJSON(s.out), errs: s.err}
	}
	return &lineReporter{out: s.out, errs: s.err}
}

// noticef tells the user something beside the output.
func (s *session) noticef(format string, args ...any) {
	fmt.Fprintln(s.err, "ebb:", visible.Line(fmt.Sprintf(format, args...)))
}

// sizeOf returns the size of a terminal; one that does not tell has the usual.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 || height == 0 {
		return 80, 24
	}
	return width, height
}

// page returns how wide output may be, and whether it is coloured.
func (s *session) page() page {
	f := s.out.terminal()
	if f == nil {
		return page{}
	}
	width, _ := sizeOf(f)
	return page{width: width, colour: os.Getenv("NO_COLOR") == ""}
}
