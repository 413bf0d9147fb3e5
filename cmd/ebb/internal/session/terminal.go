package session

import (
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/inspect"
)

// Reporter returns the reporter that fits the output. t is what is known of the run so far.
func (s *Session) Reporter(t *inspect.Tree) view.Reporter {
	if f := s.Out.Terminal(); f != nil && !s.JSON() {
		return view.NewPainter(s.Out.Screen(), func() (int, int) { return sizeOf(f) }, t, s.Page().Color)
	}
	return s.PlainReporter()
}

// PlainReporter returns the reporter for output that is not a terminal.
func (s *Session) PlainReporter() view.Reporter {
	if s.JSON() {
		return view.NewObjects(s.Out, s.Err)
	}
	return view.NewLines(s.Out, s.Err)
}

// sizeOf returns the size of a terminal; if the terminal does not report it, the usual size.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 || height == 0 {
		return 80, 24
	}
	return width, height
}

// Page returns the width of the output, and whether it has colors.
func (s *Session) Page() view.Page {
	f := s.Out.Terminal()
	if f == nil {
		return view.Page{}
	}
	width, _ := sizeOf(f)
	return view.Page{Width: width, Color: os.Getenv("NO_COLOR") == ""}
}

// Emit writes the result of a command: the object as a line of JSON, or a line of text.
func (s *Session) Emit(object any, format string, args ...any) error {
	if s.JSON() {
		return view.NewJSON(s.Out).Encode(object)
	}
	_, err := fmt.Fprintf(s.Out, format+"\n", args...)
	return err
}

// ScreenSize returns the size of the terminal that output goes to, in characters.
func (s *Session) ScreenSize() (width, height int) {
	if f := s.Out.Terminal(); f != nil {
		return sizeOf(f)
	}
	return 80, 24
}
