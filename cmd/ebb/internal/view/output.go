package view

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/visible"
)

// An Output is standard output or standard error. All output of a command goes through one of them. It escapes
// characters that a reader cannot see. It keeps the first error of a write, so that the exit status can show that
// output was lost.
//
// Text keeps its line breaks: a caller that writes text from outside calls [visible.Line] first. JSON keeps its
// value.
type Output struct {
	To     io.Writer
	JSON   func() bool
	Masked bool // for errors and logs: also mask URLs in the texts of libraries

	mu   sync.Mutex
	lost error // error of the first failed write; nothing is written after it
}

// An OutputError is returned if output cannot be written.
type OutputError struct{ err error }

// Error names the reason.
func (e *OutputError) Error() string { return "output cannot be written: " + e.err.Error() }

// Unwrap returns the error of the write.
func (e *OutputError) Unwrap() error { return e.err }

// ClosedByReader reports whether the reader of a pipe has closed it, as head does after it has read enough.
func (e *OutputError) ClosedByReader() bool { return errors.Is(e.err, syscall.EPIPE) }

// Write implements [io.Writer]. Each call must contain whole characters. After a failure it returns the same error
// and writes nothing.
func (o *Output) Write(text []byte) (int, error) {
	shown := visible.Lines
	switch {
	case o.Masked:
		shown = func(text string) string { return visible.Lines(redact.Text(text)) }
	case o.JSON():
		shown = visible.JSON
	case o.Terminal() != nil:
		shown = visibleInColor
	}
	return len(text), o.write(shown(string(text)))
}

func (o *Output) write(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return o.lost
	}
	if _, err := io.WriteString(o.To, text); err != nil {
		o.lost = &OutputError{err}
	}
	return o.lost
}

// Failure returns the error of the first failed write; nil if no output was lost.
func (o *Output) Failure() *OutputError {
	o.mu.Lock()
	defer o.mu.Unlock()
	lost, _ := errors.AsType[*OutputError](o.lost)
	return lost
}

// Screen returns a writer that writes text unchanged, for a caller that moves the cursor of a terminal. The caller must
// pass all other text through [visible.Line].
func (o *Output) Screen() io.Writer { return writerFunc(o.write) }

type writerFunc func(text string) error

// Write implements [io.Writer].
func (f writerFunc) Write(text []byte) (int, error) { return len(text), f(string(text)) }

// Terminal returns the terminal of the output; nil if there is none, or it can only append.
func (o *Output) Terminal() *os.File {
	f, ok := o.To.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return f
}

// ownColors matches the sequences with which [Page.color] colors text, and no others.
var ownColors = regexp.MustCompile("\x1b\\[(?:" + red + "|" + green + "|" + yellow + "|" + blue + "|" + dim + "|" +
	bold + "|0)m")

// visibleInColor is [visible.Lines] for colored text.
func visibleInColor(text string) string {
	var shown strings.Builder
	kept := 0
	for _, at := range ownColors.FindAllStringIndex(text, -1) {
		shown.WriteString(visible.Lines(text[kept:at[0]]) + text[at[0]:at[1]])
		kept = at[1]
	}
	shown.WriteString(visible.Lines(text[kept:]))
	return shown.String()
}

// OneLine writes log lines: each write becomes one line, whatever it contains.
type OneLine struct{ To io.Writer }

// Write implements [io.Writer].
func (l OneLine) Write(text []byte) (int, error) {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		_, err := fmt.Fprintln(l.To, visible.Line(string(text[:n-1])))
		return n, err
	}
	_, err := fmt.Fprintln(l.To, visible.Line(string(text)))
	return len(text), err
}
