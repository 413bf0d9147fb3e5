package lambda

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/visible"
)

// Limits of output.
const (
	//limit:lambda output of an invocation that is shown | {B} | the rest is dropped
	maxOutput = 1 << 20
	//limit:lambda line of a function's output | {B} | broken
	maxLine = 64 << 10
	// maxTail is the size of the end of the output that a client may ask for, as on AWS.
	maxTail = 4 << 10
	// syncTime bounds the wait for output.
	syncTime = time.Second
)

// lines are a stream of lines, whose writers do not mix them.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// write writes a line of a function. Output of functions cannot control a terminal.
func (l *lines) write(name string, line []byte) {
	text := name + "  " + visible.Line(string(line)) + "\n"
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.to, text) // output that cannot be shown is not an error of the function
}

// An output is what one process of a function prints, and those that it starts. It never blocks them for long, and
// keeps little.
type output struct {
	to     *lines
	name   string
	pipe   *os.File      // the processes write to
	mark   []byte        // a line that the output writes to its own pipe, and no process knows
	marked chan struct{} // has an element when the mark was read
	ended  chan struct{} // closed when all was read

	mu      sync.Mutex
	part    []byte // of a line
	end     []byte // the last bytes of this invocation
	written int    // in this invocation
	begun   bool   // an invocation has begun
}

func newOutput(to *lines, name string) *output {
	return &output{
		to: to, name: name, mark: []byte("\x00" + rand.Text() + "\x00"), marked: make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
}

// open opens the pipe for a process.
func (o *output) open() error {
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	o.pipe = to
	go func() {
		defer close(o.ended)
		_, _ = io.Copy(o, from) // up to the end
		_ = from.Close()        // it was only read
	}()
	return nil
}

// close reads what is left when the processes have ended.
func (o *output) close() {
	_ = o.pipe.Close() // it is the processes'
	select {
	case <-o.ended:
	case <-time.After(syncTime): // a process elsewhere holds it open
	}
	o.flush()
}

// sync waits until all that was printed before is read.
func (o *output) sync() {
	select {
	case <-o.ended:
		return
	case <-o.marked: // of a sync that took too long
	default:
	}
	if _, err := o.pipe.Write(append(o.mark, '\n')); err != nil {
		return // the process has ended
	}
	select {
	case <-o.marked:
	case <-o.ended:
	case <-time.After(syncTime):
	}
}

// begin begins the output of an invocation. What a process printed at its start belongs to its first invocation.
func (o *output) begin(line string) {
	o.flush()
	o.mu.Lock()
	if o.begun {
		o.end, o.written = nil, 0
	}
	o.begun = true
	o.mu.Unlock()
	o.line(line)
}

// line adds a line that is not the function's.
func (o *output) line(text string) {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep([]byte(text))
	o.to.write(o.name, []byte(text))
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		o.part, rest = append(o.part, line...), after
		if whole {
			o.show()
		}
		if cut := len(o.part) - len(o.mark); cut > maxLine { // the mark stays whole
			kept := bytes.Clone(o.part[cut:])
			o.part = o.part[:cut]
			o.show()
			o.part = kept
		}
	}
	return len(p), nil
}

// show writes the line.
func (o *output) show() {
	line, isMark := bytes.CutSuffix(o.part, o.mark)
	o.part = o.part[:0]
	if isMark {
		defer func() { o.marked <- struct{}{} }()
		if len(line) == 0 {
			return
		}
	}
	o.keep(line)
	fits := o.written <= maxOutput
	if o.written += len(line) + 1; o.written > maxOutput {
		line = []byte("(further output of this invocation is dropped)")
	}
	if fits {
		o.to.write(o.name, line)
	}
}

// flush writes a line without an end.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.part) > 0 {
		o.show()
	}
}

// keep keeps the end of the output.
func (o *output) keep(line []byte) {
	o.end = append(append(o.end, line[max(0, len(line)-maxTail):]...), '\n')
	if over := len(o.end) - maxTail; over > 0 {
		o.end = append(o.end[:0], o.end[over:]...)
	}
}

// tail returns the end of the output of this invocation.
func (o *output) tail() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.end)
}
