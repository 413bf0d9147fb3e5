package main

import (
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
)

// reporter returns the one that fits where output goes to. t is what is known of
// the run so far.
func (s *session) reporter(t *inspect.Tree) view.Reporter {
	if f := s.out.Terminal(); f != nil && s.output == asText {
		return view.NewPainter(s.out.Screen(), func() (int, int) { return sizeOf(f) }, t, s.page().Colour)
	}
	return s.plainReporter()
}

// plainReporter returns the one for what is no terminal.
func (s *session) plainReporter() view.Reporter {
	if s.output == asJSON {
		return view.NewObjects(s.out, s.err)
	}
	return view.NewLines(s.out, s.err)
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
func (s *session) page() view.Page {
	f := s.out.Terminal()
	if f == nil {
		return view.Page{}
	}
	width, _ := sizeOf(f)
	return view.Page{Width: width, Colour: os.Getenv("NO_COLOR") == ""}
}
