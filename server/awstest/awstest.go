// Package awstest gives a Go test AWS Step Functions and Amazon SWF in its own process. Clients use any credentials, in
// any account and region. All data is in memory, and waits take no time.
//
//	server := awstest.Start(t, awstest.Options{})
//	client := sfn.New(sfn.Options{BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: anyCredentials})
package awstest

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// Options say how a [Server] differs from AWS.
type Options struct {
	// Mocks are test cases in the form of Step Functions Local, which a client names behind the ARN of a machine:
	// ARN#CASE. [tasks.ReadMockFile] reads them. Nil means that there are none.
	Mocks *tasks.MockFile
	// Functions are called by Task states without a mock, by their Resource, such as the ARN of a Lambda function. Other
	// Task states fail.
	Functions map[string]Function
	// WaitScale multiplies the time of waits and of pauses before retries, see [engine.WithWaitScale].
	WaitScale float64
}

// A Function does the work of a Task state. It receives the input as JSON, and its result is encoded as JSON. An error
// fails the task, with the code of [atom.Errorf] if it has one.
type Function func(ctx context.Context, input json.RawMessage) (any, error)

// Execute implements [atom.Body].
func (f Function) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	result, err := f(ctx, in.Input().JSON())
	if err != nil {
		return nil, err
	}
	return atom.Encode(result)
}

// Revert implements [atom.Body]. It is not called.
func (Function) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

// Reverts implements [atom.Body].
func (Function) Reverts() bool { return false }

// A Server is an endpoint of AWS's APIs.
type Server struct {
	URL   string        // the endpoint for clients
	Store storage.Store // where the executions are
}

// Start serves until the test ends.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context()))
	store := memstore.New()
	c, handler, err := composed(ctx, store, &o)
	if err != nil {
		stop()
		tb.Fatal(err)
	}
	web := httptest.NewServer(handler)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := c.Run(ctx); err != nil {
			tb.Errorf("awstest: %v", err)
		}
	})
	tb.Cleanup(func() {
		stop() // workers that wait for tasks get their answers
		web.Close()
		serving.Wait()
		if err := store.Close(); err != nil {
			tb.Errorf("awstest: %v", err)
		}
	})
	return &Server{web.URL, store}
}

// composed returns the conductor of a store, and the handler of AWS's clients.
func composed(ctx context.Context, store storage.Store, o *Options) (*conductor.Conductor, *aws.Handler, error) {
	var c *conductor.Conductor
	config := sfn.Config{
		Store: store, AnyAccount: true, Stopping: ctx.Done(),
		Start: func(ctx context.Context, run, definition string, opts ...engine.RunOption) error {
			return c.Start(ctx, run, conductor.Ref{Definition: definition}, opts...)
		},
	}
	if o.Mocks != nil {
		config.Mocked = func(machine, testCase string) error {
			_, err := o.Mocks.Mocks(machine, testCase)
			return err
		}
	}
	machines, err := sfn.New(config)
	if err != nil {
		return nil, nil, err
	}
	workflows, err := swf.New(swf.Config{Store: store, Stopping: ctx.Done()})
	if err != nil {
		return nil, nil, err
	}
	flows := conductor.NewCatalog().Language("asl", compile).Complete(machines.Complete).Queues(machines.Queue).
		TasksOf(o.tasksOf).Add(1, workflows.Flow())
	c, err = conductor.New(jobs.New(store, jobs.Policy{}), flows, engine.WithDrain(0), engine.WithWaitScale(o.WaitScale))
	if err != nil {
		return nil, nil, err
	}
	return c, aws.New(aws.Options{Region: machines.Region(), AnyAccount: true}, machines.Service(), workflows.Service(c)),
		nil
}

func compile(_ context.Context, def storage.Definition) (flow.Node, error) {
	m, err := asl.Parse(def.Name, def.Text, asl.Accepted())
	if err != nil {
		return nil, err
	}
	return m.Flow(), nil
}

// tasksOf returns the tasks of an execution.
func (o *Options) tasksOf(run *storage.Run) (engine.Tasks, error) {
	r := &tasks.Registry{}
	for resource, f := range o.Functions {
		r.Add(resource, f)
	}
	machine, testCase := sfn.TestCase(run)
	if testCase == "" {
		return r, nil
	}
	var err error
	r.Mocks, err = o.Mocks.Mocks(machine, testCase)
	return r, err
}
