package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
)

// Codes of failures of calls of programs and servers. Exit statuses and signals have their own codes, see the package's
// page.
const (
	CodeNotFound = "Exec.NotFound"        // the program does not exist or is not executable
	CodeNoJSON   = "Runtime.MarshalError" // the result is not JSON; AWS Lambda has this name for it
	CodeSocket   = "Http.Socket"          // the connection to the server failed
	// CodeStillRunning is the code of an attempt that did not start its program, because a program of an earlier
	// attempt still ran on this machine.
	CodeStillRunning = "Exec.StillRunning"
)

const (
	defaultGrace = 5 * time.Second
	// maxCause is the number of bytes of standard error, or of a server's answer, that become a failure's message.
	//
	//limit:command end of standard error kept as cause | {B} | cut off
	maxCause = 4 << 10
)

// A program is the body of an exec: task.
type program struct {
	resource string // for errors: without the arguments, which may be secrets
	path     string // as it is started
	args     []string
	env      []string
	grace    time.Duration
}

// program returns the body of exec:line.
func (r *Registry) program(resource, line string) (atom.Body, error) {
	words, err := split(line)
	if err != nil {
		return nil, fmt.Errorf("tasks: exec: %w", err)
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("tasks: %s names no program (such as exec:./book.sh flight)", resource)
	}
	p := &program{resource: "exec:" + words[0], path: words[0], args: words[1:], env: r.Env, grace: r.Grace}
	if strings.ContainsRune(filepath.ToSlash(p.path), '/') && !filepath.IsAbs(p.path) {
		// Absolute, so that the result does not depend on the rules of package exec.
		if p.path, err = filepath.Abs(filepath.Join(r.Dir, p.path)); err != nil {
			return nil, fmt.Errorf("tasks: %s: %w", p.resource, err)
		}
	}
	if p.grace == 0 {
		p.grace = defaultGrace
	}
	return p, nil
}

// split splits a line into words at blanks. Quotes keep blanks.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case unicode.IsSpace(c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// check returns an error if the program does not exist or may not be executed.
func (p *program) check() error {
	if _, err := exec.LookPath(p.path); err != nil {
		return p.notFound(err)
	}
	return nil
}

func (p *program) notFound(err error) error {
	fix := "the path starts from the definition's folder"
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("tasks: %s: %s may not be run (chmod +x %s)", p.resource, p.path, p.path)
	case !filepath.IsAbs(p.path):
		fix = "it is looked up along PATH; write ./" + p.path + " for one beside the definition"
	}
	return fmt.Errorf("tasks: %s: there is no program %s (%s)", p.resource, p.path, fix)
}

// Execute runs the program.
func (p *program) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return p.run(ctx, argument(in), "")
}

// Revert runs the program as the undo of another one: EBB_REVERT is 1, and EBB_OUTCOME has the outcome of the other
// one.
func (p *program) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	return p.run(ctx, argument(in), did.String())
}

// Reverts reports that Revert has an effect.
func (p *program) Reverts() bool { return true }

// argument returns the input of a task outside of Go: the one argument of a language, or all arguments as an object.
func argument(in atom.Values) atom.Value {
	if v := in.Input(); v != nil {
		return v
	}
	return in.Object()
}

func (p *program) run(ctx context.Context, in atom.Value, outcome string) (atom.Value, error) {
	out, errs := &head{limit: atom.MaxValue}, &tail{limit: maxCause}
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = append(append(os.Environ(), p.env...), environment(ctx, outcome)...)
	cmd.Stdin = bytes.NewReader(append(bytes.Clone(in.JSON()), '\n'))
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = p.grace // also for a process elsewhere that holds its output open
	how, err := execute(ctx, cmd, func(int) {})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case how.failed():
		return nil, failed(how, out, errs)
	case errors.Is(err, exec.ErrWaitDelay): // it ended successfully
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, atom.Errorf(CodeNotFound, "%w", p.notFound(err))
	case err != nil:
		return nil, fmt.Errorf("tasks: %s: %w", p.resource, err)
	}
	if out.over {
		return nil, atom.Errorf(atom.CodeTooLarge, "the output is larger than %d bytes", atom.MaxValue)
	}
	return result(out.Bytes(), "the output")
}

// result returns the value of a task's output.
func result(text []byte, what string) (atom.Value, error) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return atom.Null, nil
	case !json.Valid(text), !utf8.Valid(text):
		return nil, atom.Errorf(CodeNoJSON, "%s is no JSON: %s", what, begin(text, 200))
	}
	return atom.FromJSON(text), nil
}

// begin returns the first characters of an external text.
func begin(text []byte, limit int) string {
	if len(text) > limit {
		return strings.ToValidUTF8(string(text[:limit]), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// An exit says how a program ended. The zero exit is that of a program that succeeded, or did not start.
type exit struct {
	status int
	signal string // name of the signal that ended it, such as KILL, or ""
}

func (e exit) failed() bool { return e.status != 0 || e.signal != "" }

// failed returns the failure of a program with an exit status other than 0.
func failed(how exit, out *head, errs *tail) error {
	var said struct {
		Error string `json:"Error"`
		Cause string `json:"Cause"`
	}
	if json.Unmarshal(out.Bytes(), &said) == nil && said.Error != "" {
		return atom.Errorf(said.Error, "%s", said.Cause)
	}
	code := "Exec.Exit" + strconv.Itoa(how.status)
	if how.signal != "" {
		code = "Exec.Signal" + how.signal
	}
	return atom.Errorf(code, "%s", errs)
}

// environment returns the variables that describe the call to the program.
func environment(ctx context.Context, outcome string) []string {
	call := atom.CurrentCall(ctx)
	env := []string{
		"EBB_KEY=" + atom.IdempotencyKey(ctx),
		"EBB_RUN=" + call.Run,
		"EBB_PATH=" + call.Path,
		"EBB_INCARNATION=" + strconv.Itoa(call.Incarnation),
		"EBB_ATTEMPT=" + strconv.Itoa(call.Attempt),
		"TRACEPARENT=" + call.Trace, // not this process's own, which belong to another run
	}
	if call.Revert {
		return append(env, "EBB_REVERT=1", "EBB_OUTCOME="+outcome)
	}
	return append(env, "EBB_REVERT=0", "EBB_OUTCOME=")
}
