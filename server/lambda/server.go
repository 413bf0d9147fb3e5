package lambda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/server/aws"
)

// Limits of processes.
const (
	//limit:lambda processes of a function; of all | {}; {maxProcesses} | further invocations wait
	maxOfFunction = 16
	maxProcesses  = 64
	//limit:lambda invocations that wait for a process | {} | `TooManyRequestsException`
	maxWaiting = 1000
	//limit:lambda idle process of a function | {} | ended
	maxIdle = 5 * time.Minute
	// grace is the time between SIGTERM and SIGKILL.
	grace = 200 * time.Millisecond
)

// Config says which functions there are, and what they get.
type Config struct {
	Functions []Function
	Account   aws.Account // in ARNs, and the region of the functions
	// Environment is added to the variables of all functions. Variables of a function take precedence.
	Environment map[string]string
	Output      io.Writer    // gets what functions print, line by line; nil means nothing does
	Log         hclog.Logger // nil means no log
}

// A Server runs functions. It starts the processes when they are needed. [New] creates a Server. Nil is one without
// functions, which has nothing to call, set or close.
type Server struct {
	account aws.Account
	output  *lines
	log     hclog.Logger
	ctx     context.Context //nolint:containedctx // of all processes, until Close
	cancel  context.CancelFunc
	jobs    chan *job
	handler http.Handler
	running sync.WaitGroup

	mu          sync.Mutex
	environment map[string]string
	functions   map[string]*hosted
	processes   int           // of all functions
	waiting     int           // invocations that wait for a process
	changed     chan struct{} // closed, and replaced, when a process is idle or gone
	folders     []string      // temporary ones, with the code of inline functions
}

// A hosted function has processes.
type hosted struct {
	Function

	arn       string
	processes int        // that have not ended
	idle      []*process // that wait for an invocation, the one that waits for the longest time first
	code      codeStamp
	folder    string // with the code of an inline function; "" before it is written
}

// New returns a server of functions, or an error that names all functions that cannot be run. No process is started.
func New(c Config) (*Server, error) {
	account, err := c.Account.Completed()
	if err != nil {
		return nil, fmt.Errorf("lambda: %w", err)
	}
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	if c.Output == nil {
		c.Output = io.Discard
	}
	s := &Server{
		account: account, environment: c.Environment, output: &lines{to: c.Output}, log: c.Log.Named("lambda"),
		jobs: make(chan *job), functions: map[string]*hosted{}, changed: make(chan struct{}),
	}
	if err := s.Set(c.Functions); err != nil {
		return nil, err
	}
	s.handler = s.newHandler()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	_ = s.ctx.Done() // the channel is made here, not in the bubble of a caller
	s.running.Go(s.offerJobs)
	return s, nil
}

// Set replaces the functions. Processes of functions that changed, or are gone, end with the invocation that they
// answer. If a function cannot be run, Set returns an error that names all of these, and changes nothing.
func (s *Server) Set(functions []Function) error {
	if s == nil {
		return nil
	}
	all := map[string]*hosted{}
	var problems []error
	for i := range functions {
		f := &functions[i]
		if err := f.Check(); err != nil {
			problems = append(problems, err)
			continue
		}
		if other := all[f.Name]; other != nil {
			problems = append(problems, fmt.Errorf("%sfunction %q: another one has the name (%s)", place(f.From), f.Name,
				other.From))
		}
		all[f.Name] = &hosted{Function: *f, arn: s.account.ARN("lambda", "function", f.Name)}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.functions {
		if same := all[name]; same != nil && reflect.DeepEqual(same.Function, old.Function) {
			all[name] = old
			continue
		}
		old.end()
	}
	s.functions = all
	return nil
}

// SetEnvironment replaces the variables of all functions, for processes that start later.
func (s *Server) SetEnvironment(env map[string]string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.environment = maps.Clone(env)
}

// Names returns the names of the functions, in order.
func (s *Server) Names() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.functions))
}

// Close ends all processes, and waits for that.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, folder := range s.folders {
		_ = os.RemoveAll(folder) // among temporary files
	}
}

// find returns the function that a client names: by its name, its ARN, or a part of the ARN. Any account and region is
// that of the server, as the functions are given by files.
func (s *Server) find(name string) (f *hosted, qualifier string) {
	if parts := strings.SplitN(name, ":function:", 2); len(parts) == 2 { //nolint:mnd // before and after
		name = parts[1]
	} else {
		name = strings.TrimPrefix(name, "function:")
	}
	name, qualifier, _ = strings.Cut(name, ":")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.functions[name], qualifier
}
