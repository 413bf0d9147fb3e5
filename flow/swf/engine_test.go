package swf_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A served is the model in the real engine, on memory, in virtual time.
type served struct {
	*engine.Server

	t     *testing.T
	store backend.Store
	lang  *swf.Language
	bits  uint64
}

// serve runs a test with a server that drives executions.
func serve(t *testing.T, settings swf.Settings, test func(s *served)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		registry := &tasks.Registry{}
		registry.Add("f", echo{})
		s := &served{t: t, store: memstore.New(), lang: swf.New(settings)}
		var err error
		s.Server, err = engine.NewServer(engine.Flows(s.lang.Flow()), s.store, engine.WithEngine(engine.WithTasks(registry)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- s.Serve(ctx) }()
		test(s)
		s.checkAll()
		cancel()
		if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// echo is a function that returns its input.
type echo struct{}

func (echo) Execute(_ context.Context, in atom.Values) (atom.Value, error) {
	return in.Input(), nil
}

func (echo) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, nil
}
func (echo) Reverts() bool { return false }

func (s *served) start(id string, mods ...func(*swf.Start)) string {
	s.t.Helper()
	start := swf.Start{Domain: domain, WorkflowID: id, Type: swf.Type{Name: "wt", Version: "1"}, Configuration: swf.Configuration{
		TaskList: &swf.TaskList{Name: "dl"}, TaskStartToCloseTimeout: "60", ExecutionStartToCloseTimeout: "300",
		ChildPolicy: swf.PolicyTerminate,
	}}
	for _, mod := range mods {
		mod(&start)
	}
	s.bits++
	c := start.Run(swf.RunID(func() uint64 { return s.bits }), new("in"))
	run, err := s.NewRun(s.lang.Flow(), c.ID, engine.Input(c.Input), engine.Attributes(c.Attributes), engine.Labels(c.Labels), engine.Key(c.Key))
	if err == nil {
		err = s.Start(s.t.Context(), run)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return c.ID
}

// taking takes a task from a queue, waiting up to a minute.
func (s *served) taking(queue string) *engine.Task {
	s.t.Helper()
	task, err := s.TakeTask(s.t.Context(), storage.WorkRequest{Queues: []string{queue}, Worker: "w"}, time.Minute, nil)
	if err != nil {
		s.t.Fatal(queue, ": ", err)
	}
	return task
}

func (s *served) decider(lists ...string) *engine.Task {
	s.t.Helper()
	return s.taking(swf.DecisionQueue(domain, slices.Concat(lists, []string{"dl"})[0]))
}

func (s *served) complete(task *engine.Task, decisions ...string) error {
	s.t.Helper()
	c := swf.Completion{
		Decisions:     json.RawMessage("[" + strings.Join(decisions, ",") + "]"),
		ActivityTypes: activityTypes, WorkflowTypes: workflowTypes,
	}
	_, err := s.CompleteTask(s.t.Context(), task.Token, task.Delivery, atom.MustEncode(c))
	return err
}

func (s *served) decide(decisions ...string) {
	s.t.Helper()
	if err := s.complete(s.decider(), decisions...); err != nil {
		s.t.Fatal(err)
	}
}

// events returns the history of a run.
func (s *served) events(run string) []storage.Entry {
	s.t.Helper()
	all, err := s.store.Events(s.t.Context(), run, storage.EventQuery{})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// types returns the types of the events of a run.
func (s *served) types(run string) (types []string) {
	s.t.Helper()
	for _, e := range s.events(run) {
		types = append(types, e.Type)
	}
	return types
}

// await waits until a run has an event of that type.
func (s *served) await(run, typ string) {
	s.t.Helper()
	for range 400 {
		synctest.Wait()
		if slices.Contains(s.types(run), typ) {
			return
		}
		time.Sleep(second) // virtual
	}
	s.t.Fatalf("no %s in %v", typ, s.types(run))
}

func (s *served) ends(run string, from int, types ...string) {
	s.t.Helper()
	synctest.Wait()
	if got := s.types(run); len(got) < from || !slices.Equal(got[from-1:], types) {
		s.t.Errorf("from event %d: %v\nwant %v", from, got, types)
	}
}

// checkAll compares the memory of each run with the fold of its events.
func (s *served) checkAll() {
	s.t.Helper()
	synctest.Wait()
	for run, err := range storage.EachRun(s.t.Context(), s.store, storage.RunQuery{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		var fold swf.Fold
		for _, e := range s.events(run.ID) {
			if err := fold.Add(&grow.Event{Type: e.Type, Details: e.Details}); err != nil {
				s.t.Errorf("%s: %v", run.ID, err)
			}
		}
		d, err := swf.Describe(run.Memory)
		if err != nil || fold.Closed != run.State.Ended() || !fold.Closed && d.OpenCounts != fold.Counts() {
			s.t.Errorf("%s: %v: the memory has %+v, the events %+v, closed: %t", run.ID, err, d, fold.Counts(), fold.Closed)
		}
	}
}

// TestEngine runs an execution with activities, a timer, a signal and a function in the engine.
func TestEngine(t *testing.T) {
	t.Parallel()
	serve(t, swf.Settings{}, func(s *served) {
		run := s.start("w", func(start *swf.Start) { start.LambdaRole = "r" })
		first := s.decider()
		if err := s.complete(first, complete, complete); err == nil {
			t.Error("an invalid batch is accepted")
		}
		if err := s.complete(first, activity("a", "heartbeatTimeout", "5"), timer("t", "2")); err != nil {
			t.Fatal(err)
		}
		if err := s.complete(first); !errors.Is(err, storage.ErrGone) {
			t.Errorf("a repeated answer: %v", err)
		}
		work := s.taking(swf.ActivityQueue(domain, "al"))
		s.decide(decide("RequestCancelActivityTask", "activityId", "a")) // after the timer
		s.ends(run, 5, "ActivityTaskScheduled", "TimerStarted", "ActivityTaskStarted", "TimerFired", "DecisionTaskScheduled",
			"DecisionTaskStarted", "DecisionTaskCompleted", "ActivityTaskCancelRequested")
		giveUp, err := s.Heartbeat(t.Context(), work.Token, work.Delivery, swf.Text(new("half")))
		if !giveUp || err != nil {
			t.Errorf("give up: %t, %v", giveUp, err)
		}
		s.await(run, "ActivityTaskTimedOut")
		last := s.events(run)[12]
		if got := last.Details.String(); got != `{"timeoutType":"HEARTBEAT","details":"half","scheduledEventId":5,"startedEventId":7}` {
			t.Errorf("%s %s", last.Type, got)
		}
		s.decide(decide("ScheduleLambdaFunction", "id", "l", "name", "f", "input", `{"a":1}`))
		s.await(run, "LambdaFunctionCompleted")
		if _, err := s.Call(t.Context(), run, swf.CallSignal, atom.MustEncode(swf.Signal{SignalName: "s"})); err != nil {
			t.Fatal(err)
		}
		s.decide(complete)
		if _, err := s.Call(t.Context(), run, swf.CallSignal, atom.MustEncode(swf.Signal{SignalName: "s"})); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("a late signal: %v", err)
		}
		s.start("w") // the workflowId is free
	})
}

// TestEngineFamilies runs children, their policies, signals between executions, and executions that continue as new.
func TestEngineFamilies(t *testing.T) {
	t.Parallel()
	serve(t, swf.Settings{}, func(s *served) {
		parent, other := s.start("w"), s.start("o", func(start *swf.Start) { start.TaskList.Name = "ol" })
		signal := func(id string) string {
			return decide("SignalExternalWorkflowExecution", "workflowId", id, "signalName", "s", "control", "c")
		}
		s.decide(startChild("c"), startChild("o"), signal("o"), signal("none"), signal("w"))
		for _, typ := range []string{
			"ChildWorkflowExecutionStarted", "StartChildWorkflowExecutionFailed", "ExternalWorkflowExecutionSignaled",
			"SignalExternalWorkflowExecutionFailed", "WorkflowExecutionSignaled",
		} {
			s.await(parent, typ)
		}
		s.await(other, "WorkflowExecutionSignaled")
		child := s.decider("cl")
		if err := s.complete(child, decide("ContinueAsNewWorkflowExecution", "taskList", named("cl"), "input", "next")); err != nil {
			t.Fatal(err)
		}
		next := s.decider("cl")
		if next.Run == child.Run {
			t.Error("the run did not continue as another")
		}
		if err := s.complete(next, startChild("g", "taskList", named("gl"))); err != nil {
			t.Fatal(err)
		}
		s.await(next.Run, "ChildWorkflowExecutionStarted")
		grandchild := s.decider("gl")
		if _, err := s.Call(t.Context(), parent, swf.CallTerminate, atom.MustEncode(swf.Termination{})); err != nil {
			t.Fatal(err)
		}
		s.await(next.Run, "WorkflowExecutionTerminated")
		s.await(grandchild.Run, "WorkflowExecutionTerminated")
		if err := s.complete(grandchild, complete); err == nil {
			t.Error("an answer after the termination is accepted")
		}
		parent = s.start("w", func(start *swf.Start) {
			start.ExecutionStartToCloseTimeout = "30"
			start.ChildPolicy = swf.PolicyRequestCancel
		})
		s.decide(startChild("c2"), startChild("done"))
		done := s.decider("cl")
		for run, err := s.store.OpenRun(t.Context(), swf.Key(domain, "done")); run != done.Run; done = s.decider("cl") {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.complete(done, complete); err != nil {
			t.Fatal(err)
		}
		s.await(parent, "ChildWorkflowExecutionCompleted")
		s.await(parent, "WorkflowExecutionTimedOut")
		open, err := s.store.OpenRun(t.Context(), swf.Key(domain, "c2"))
		if err != nil {
			t.Fatal(err)
		}
		s.await(open, "WorkflowExecutionCancelRequested")
		s.start("last")
		s.decide(startChild("left", "taskList", named("xl")), signal("o"), complete) // starts and signals although it closes
		if got := s.decider("xl"); got.Run == "" {
			t.Error("the child of a closed execution did not start")
		}
		signals := func() int {
			return len(slices.DeleteFunc(s.types(other), func(typ string) bool { return typ != "WorkflowExecutionSignaled" }))
		}
		for range 60 { // the signal is delivered after the commit that closes its sender
			if signals() == 2 {
				return
			}
			time.Sleep(time.Second) // virtual
		}
		t.Errorf("%d signals, want 2", signals())
	})
}

var _ grow.Language = (*swf.Language)(nil)
