package lambda

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os/exec"
	"time"

	"github.com/ebbflow/ebb/engine/tasks"
)

// initTime is how long a process may take, besides the timeout of its function, until it asks for an invocation.
//
//limit:lambda start of a function's process | {}, and the function's timeout | `Sandbox.Timedout`
const initTime = 10 * time.Second

// A process runs the code of a function, and answers one invocation after another.
type process struct {
	server   *Server
	function *hosted
	code     uint64 // stamp of the code with which it was started
	cmd      *exec.Cmd
	cancel   context.CancelFunc // ends it
	output   *output
	next     chan ask    // from the Runtime API, when the process asks for an invocation
	failed   chan []byte // from the Runtime API: the error of its start
	answers  chan answer // from the Runtime API, to the invocation that it has
	waits    *ask        // with which it waits, while it is idle
	idle     *time.Timer // ends it
	api      *runtimeAPI
	memory   *memoryWatch

	ended chan struct{} // closed at its end
	how   string        // it ended, see [tasks.RunCommand]
	err   error         // why it did not start
}

// An ask is a request of a process for an invocation.
type ask struct {
	take chan<- *invocation
	gone <-chan struct{} // closed if the process no longer waits for the answer
}

// An answer is the result or the error of an invocation.
type answer struct {
	payload []byte
	failed  bool
}

func newProcess(s *Server, f *hosted) *process {
	return &process{
		server: s, function: f, output: newOutput(s.output, f.Name), next: make(chan ask), failed: make(chan []byte, 1),
		answers: make(chan answer, 1), ended: make(chan struct{}), memory: newMemoryWatch(f.memoryMB()),
	}
}

// start starts the process. After an error it has ended.
func (p *process) start() error {
	ctx, cancel := context.WithCancel(p.server.ctx)
	p.cancel = cancel
	p.code = p.function.code.of(&p.function.Function)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err == nil {
		if err = p.output.open(); err != nil {
			err = errors.Join(err, listener.Close())
		}
	}
	if err != nil {
		cancel()
		p.server.gone(p)
		return err
	}
	p.api = newRuntimeAPI(p, listener.Addr().String())
	served := &http.Server{Handler: p.api, ReadHeaderTimeout: initTime}
	p.server.running.Go(func() { _ = served.Serve(ownOnly{listener}) }) // until it is closed
	p.cmd, p.err = p.server.command(ctx, p.function, p.api.address)
	p.server.running.Go(func() {
		defer p.server.gone(p)
		defer close(p.ended)
		defer func() { _ = served.Close() }() // no process is left that could use it
		defer cancel()
		defer p.output.close()
		if p.err == nil {
			p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.output.pipe, p.output.pipe, grace
			p.how, p.err = tasks.RunCommand(ctx, p.cmd, func(pid int) { p.memory.start(ctx, pid, p.end) })
		}
	})
	return nil
}

// end ends the process, and does not wait for that.
func (p *process) end() { p.cancel() }

// isStale reports whether an idle process has ended, or its code has changed.
func (p *process) isStale() bool {
	select {
	case <-p.ended:
		return true
	default:
		return p.function.code.of(&p.function.Function) != p.code
	}
}

// errGone is the error of a process that ended while it was idle. The invocation did not reach it.
var errGone = errors.New("the process has ended")

// do has the process answer an invocation.
func (p *process) do(in *invocation) (*outcome, error) {
	isNew := p.waits == nil
	if failed, err := p.hand(in); failed != nil || err != nil {
		if !isNew && err == nil {
			return nil, errGone
		}
		return failed, err
	}
	timer := time.NewTimer(time.Until(in.deadline))
	defer timer.Stop()
	select {
	case a := <-p.answers:
		return &outcome{payload: a.payload, failed: a.failed}, nil
	case <-p.ended:
		select {
		case a := <-p.answers: // its last words
			return &outcome{payload: a.payload, failed: a.failed}, nil
		default:
			return p.exited(in), nil
		}
	case <-timer.C:
		p.end()
		p.output.line(time.Now().UTC().Format(timeFormat) + " " + in.id + " " + in.timeoutText())
		return in.fail("Sandbox.Timedout", in.timeoutText()), nil
	case <-p.server.ctx.Done():
		return nil, errClosed
	}
}

// hand gives an invocation to the process. It returns the outcome if the process cannot take it.
func (p *process) hand(in *invocation) (*outcome, error) {
	begin := time.NewTimer(initTime + p.function.timeout())
	defer begin.Stop()
	for {
		if p.waits != nil {
			in.begin(p.function)
			p.output.begin("START RequestId: " + in.id + " Version: " + in.version)
			select {
			case p.waits.take <- in:
				p.waits = nil
				return nil, nil //nolint:nilnil // the process has it
			case <-p.waits.gone:
				p.waits = nil
			case <-p.ended:
				return p.exited(in), nil
			}
		}
		select {
		case asked := <-p.next:
			p.waits = &asked
		case failure := <-p.failed:
			p.end()
			return p.unable(failure), nil
		case <-p.ended:
			select {
			case failure := <-p.failed: // its last words
				return p.unable(failure), nil
			default:
				return p.exited(in), nil
			}
		case <-begin.C:
			p.end()
			return in.fail("Sandbox.Timedout", in.timeoutText()), nil
		case <-p.server.ctx.Done():
			return nil, errClosed
		}
	}
}

// rest waits until the process asks for another invocation, and puts it back. If it does not ask before the deadline of
// the last one, it is ended.
func (p *process) rest(in *invocation) {
	timer := time.NewTimer(time.Until(in.deadline))
	defer timer.Stop()
	select {
	case asked := <-p.next:
		p.waits = &asked
		p.server.put(p)
	case <-p.ended:
	case <-timer.C:
		p.end()
	case <-p.server.ctx.Done():
	}
}
