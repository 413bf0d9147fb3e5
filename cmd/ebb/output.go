package main

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

// An output is the one way to standard output, and another one that to standard error. It does two things for all
// commands: no character that a reader cannot see leaves it, whatever a caller wrote, and it keeps the first error of a
// write, so that the exit status can say that output was lost.
//
// Text keeps its line breaks: a caller that writes text from outside calls [visible.Line] first. JSON keeps its value.
type output struct {
	to     io.Writer
	json   func() bool
	masked bool // errors and logs go there: also what a library says of a URL is masked

	mu   sync.Mutex
	lost error // of the first write that failed; nothing is written after it
}

// An outputError says that output cannot be written.
type outputError struct{ err error }

// Error names the reason.
func (e *outputError) Error() string { return "output cannot be written: " + e.err.Error() }

// Unwrap returns the error of the write.
func (e *outputError) Unwrap() error { return e.err }

// closedByReader reports whether the reader of a pipe has closed it, as head does: it has what it wanted.
func (e *outputError) closedByReader() bool { return errors.Is(e.err, syscall.EPIPE) }

// Write implements [io.Writer]. Each call has whole characters. After a failure it returns the same error and writes nothing.
func (o *output) Write(text []byte) (int, error) {
	shown := visible.Lines
	switch {
	case o.masked:
		shown = func(text string) string { return visible.Lines(redact.Text(text)) }
	case o.json():
		shown = visible.JSON
	case o.terminal() != nil:
		shown = visibleInColour
	}
	return len(text), o.write(shown(string(text)))
}

func (o *output) write(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return o.lost
	}
	if _, err := io.WriteString(o.to, text); err != nil {
		o.lost = &outputError{err}
	}
	return o.lost
}

// failure returns the error of the first write that failed; nil when nothing was lost.
func (o *output) failure() *outputError {
	o.mu.Lock()
	defer o.mu.Unlock()
	lost, _ := errors.AsType[*outputError](o.lost)
	return lost
}

// screen writes as it is told to, for who moves the cursor of a terminal and calls [visible.Line] for all else.
func (o *output) screen() io.Writer { return writerFunc(o.write) }

type writerFunc func(text string) error

// Write implements [io.Writer].
func (f writerFunc) Write(text []byte) (int, error) { return len(text), f(string(text)) }

// terminal returns the terminal that output goes to, nil when it goes elsewhere or to one that can only append.
func (o *output) terminal() *os.File {
	f, ok := o.to.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return f
}

// ownColours finds the sequences by which [page.paint] colours text, and no others.
var ownColours = regexp.MustCompile("\x1b\\[(?:" + red + "|" + green + "|" + yellow + "|" + blue + "|" + dim + "|" + bold + "|0)m")

// visibleInColour is [visible.Lines] for text that was painted.
func visibleInColour(text string) string {
	var shown strings.Builder
	kept := 0
	for _, at := range ownColours.FindAllStringIndex(text, -1) {
		shown.WriteString(visible.Lines(text[kept:at[0]]) + text[at[0]:at[1]])
		kept = at[1]
	}
	shown.WriteString(visible.Lines(text[kept:]))
	return shown.String()
}

// oneLine is the way of log lines: each write is one line, whatever is in it.
type oneLine struct{ to io.Writer }

// Write implements [io.Writer].
func (l oneLine) Write(text []byte) (int, error) {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		_, err := fmt.Fprintln(l.to, visible.Line(string(text[:n-1])))
		return n, err
	}
	_, err := fmt.Fprintln(l.to, visible.Line(string(text)))
	return len(text), err
}
