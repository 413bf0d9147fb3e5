package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	gosync "sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const domain = "bench"

func sortDurations(all []time.Duration) { slices.Sort(all) }

// register registers a domain, and a type of executions and of activities.
func (s *server) register(ctx context.Context) error {
	err := s.swf(ctx, "RegisterDomain", object{"name": domain, "workflowExecutionRetentionPeriodInDays": "1"}, nil)
	if err != nil {
		return err
	}
	if err := s.swf(ctx, "RegisterWorkflowType", object{
		"domain": domain, "name": "order", "version": "1", "defaultTaskList": object{"name": "decide"},
		"defaultTaskStartToCloseTimeout": "60", "defaultExecutionStartToCloseTimeout": "86400",
		"defaultChildPolicy": "TERMINATE",
	}, nil); err != nil {
		return err
	}
	return s.swf(ctx, "RegisterActivityType", object{
		"domain": domain, "name": "pay", "version": "1", "defaultTaskList": object{"name": "work"},
		"defaultTaskScheduleToStartTimeout": "600", "defaultTaskStartToCloseTimeout": "600",
		"defaultTaskScheduleToCloseTimeout": "1200", "defaultTaskHeartbeatTimeout": "NONE",
	}, nil)
}

// begin starts an execution.
func (s *server) begin(ctx context.Context, id string) error {
	return s.swf(ctx, "StartWorkflowExecution", object{
		"domain": domain, "workflowId": id, "workflowType": object{"name": "order", "version": "1"},
	}, nil)
}

func (s *server) signal(ctx context.Context, id string) error {
	return s.swf(ctx, "SignalWorkflowExecution", object{"domain": domain, "workflowId": id, "signalName": "s"}, nil)
}

// A task is a task for a decider or a worker.
type task struct {
	Token     string `json:"taskToken"`
	Started   int    `json:"startedEventId"`
	Execution struct {
		WorkflowID string `json:"workflowId"`
	} `json:"workflowExecution"`
	Events []struct {
		ID   int    `json:"eventId"`
		Type string `json:"eventType"`
	} `json:"events"`
}

// take polls for a task of a decider or a worker, until there is one or stopping ends.
func (s *server) take(stopping context.Context, operation string, in object) (*task, error) {
	for stopping.Err() == nil {
		t := &task{}
		err := s.swf(stopping, operation, in, t)
		if stopping.Err() == nil && (err != nil || t.Token != "") {
			return t, err
		}
	}
	return nil, nil //nolint:nilnil // there is no task
}

var (
	decide = object{"domain": domain, "taskList": object{"name": "decide"}, "reverseOrder": true, "maximumPageSize": 20}
	doWork = object{"domain": domain, "taskList": object{"name": "work"}}
)

func (s *server) decided(ctx context.Context, t *task, decisions ...object) error {
	return s.swf(ctx, "RespondDecisionTaskCompleted", object{"taskToken": t.Token, "decisions": decisions}, nil)
}

var (
	schedule = object{
		"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes": object{
			"activityId": "a", "activityType": object{"name": "pay", "version": "1"},
		},
	}
	complete = object{
		"decisionType": "CompleteWorkflowExecution",
		"completeWorkflowExecutionDecisionAttributes": object{},
	}
)

// signals sends signals to open executions: as many as clients, and one.
//
// An execution ends at 25,000 events, so the signals to one go to another in time.
func signals(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		if err := s.register(ctx); err != nil {
			return nil, err
		}
		for i := range s.clients {
			if err := s.begin(ctx, fmt.Sprint("x", i)); err != nil {
				return nil, err
			}
		}
		many, err := s.load(ctx, s.clients, func(ctx context.Context, client, _ int) error {
			return s.signal(ctx, fmt.Sprint("x", client))
		})
		if err != nil {
			return nil, err
		}
		first, err := s.withCeilings(ctx, workflows,
			fmt.Sprintf("SignalWorkflowExecution, to %d executions", s.clients), "2,000; p99 50 ms", many)
		if err != nil {
			return nil, err
		}
		for i := range oneAfterOther {
			if err := s.begin(ctx, fmt.Sprint("one", i)); err != nil {
				return nil, err
			}
		}
		var sent atomic.Int64
		one, err := s.load(ctx, s.clients, func(ctx context.Context, _, _ int) error {
			return s.signal(ctx, fmt.Sprint("one", sent.Add(1)/signalsOfOne))
		})
		if err != nil {
			return nil, err
		}
		second, err := s.withCeilings(ctx, workflows, "– to one execution", "300", one)
		return []row{first, second}, err
	})
}

const (
	signalsOfOne  = 20_000
	oneAfterOther = 60
)

// A taskLoad is deciders and workers for executions of one activity.
type taskLoad struct {
	*server

	done chan struct{} // an execution is complete
	mu   gosync.Mutex
	sent map[string]time.Time // when the latest response was sent, by execution

	signals bool // each execution gets a signal during its first decision
	toWork  []time.Duration
	toNext  []time.Duration
}

// run lets deciders and workers take tasks until stopping ends.
func (l *taskLoad) run(ctx, stopping context.Context) error {
	var group errgroup.Group
	for range l.clients {
		group.Go(func() error {
			for {
				t, err := l.take(stopping, "PollForDecisionTask", decide)
				if t == nil || err != nil {
					return err
				}
				if err := l.decide(ctx, t); err != nil {
					return err
				}
			}
		})
		group.Go(func() error {
			for {
				t, err := l.take(stopping, "PollForActivityTask", doWork)
				if t == nil || err != nil {
					return err
				}
				l.arrived(t, &l.toWork)
				if err := l.swf(ctx, "RespondActivityTaskCompleted", object{"taskToken": t.Token}, nil); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// arrived notes how long after the latest response a task came.
func (l *taskLoad) arrived(t *task, took *[]time.Duration) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	*took = append(*took, now.Sub(l.sent[t.Execution.WorkflowID]))
}

func (l *taskLoad) decide(ctx context.Context, t *task) error {
	id := t.Execution.WorkflowID
	completed, worked := 0, false
	for _, e := range t.Events {
		if e.Type == "DecisionTaskCompleted" {
			completed++
		}
		worked = worked || e.Type == "ActivityTaskCompleted"
	}
	if completed == 1 {
		l.arrived(t, &l.toNext)
	}
	switch {
	case worked:
		if err := l.decided(ctx, t, complete); err != nil {
			return err
		}
		l.done <- struct{}{}
		return nil
	case completed > 0:
		return l.decided(ctx, t)
	case l.signals:
		if err := l.signal(ctx, id); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.sent[id] = time.Now()
	l.mu.Unlock()
	return l.decided(ctx, t, schedule)
}

// tasks runs executions with one activity: as many as there is time for, and half as many.
func tasks(ctx context.Context, b *bench) (rows []row, err error) {
	var full *sample
	rows, err = b.onServer(ctx, func(s *server) ([]row, error) {
		if full, _, err = s.tasks(ctx, 0); err != nil {
			return nil, err
		}
		full.calls = 7
		r, err := s.withCeilings(ctx, workflows, "executions with one activity, 7 calls each", "200", full)
		return []row{r}, err
	})
	if err != nil {
		return rows, err
	}
	half, err := b.onServer(ctx, func(s *server) ([]row, error) {
		m, l, err := s.tasks(ctx, full.rate()/2)
		if err != nil {
			return nil, err
		}
		at := fmt.Sprintf("at %s executions a second, ", number(m.rate()))
		next, work := *m, *m
		next.took, work.took = l.toNext, l.toWork
		sortDurations(next.took)
		sortDurations(work.took)
		return []row{
			{what: at + "from RespondDecisionTaskCompleted to the next decision task", aim: "p99 50 ms", m: &next, quiet: true},
			{what: "– to the worker of an activity that it scheduled", aim: "p99 50 ms", m: &work, quiet: true},
		}, nil
	})
	return append(rows, half...), err
}

// tasks keeps as many executions open as there are clients, or starts so many a second.
func (s *server) tasks(ctx context.Context, rate float64) (*sample, *taskLoad, error) {
	if err := s.register(ctx); err != nil {
		return nil, nil, err
	}
	const most = 100_000
	l := &taskLoad{server: s, done: make(chan struct{}, most), sent: map[string]time.Time{}, signals: rate > 0}
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	group.Go(func() error {
		err := l.run(ctx, stopping)
		if err != nil {
			stop()
		}
		return err
	})
	var number atomic.Int64
	begin := func() error { return s.begin(ctx, fmt.Sprint("x", number.Add(1))) }
	m, err := s.measured(ctx, func(_ context.Context, m *sample) error {
		return l.feed(stopping, rate, m, begin)
	})
	stop()
	return m, l, errors.Join(err, group.Wait())
}

// feed starts executions for the bench's time, and counts those that completed.
func (l *taskLoad) feed(ctx context.Context, rate float64, m *sample, begin func() error) error {
	until := time.NewTimer(l.time)
	defer until.Stop()
	var pace <-chan time.Time
	var starting errgroup.Group
	if rate > 0 {
		ticker := time.NewTicker(time.Duration(float64(time.Second) / rate))
		defer ticker.Stop()
		pace = ticker.C
		starting.Go(begin)
	} else {
		for range l.clients {
			starting.Go(begin)
		}
	}
	for {
		select {
		case <-until.C:
			err := starting.Wait()
			if err == nil && m.count == 0 { // on a slow machine
				m.count, err = 1, within(ctx, l.done)
			}
			return err
		case <-ctx.Done():
			return errors.Join(errors.New("a decider or worker failed"), starting.Wait())
		case <-l.done:
			m.count++
			if rate == 0 {
				starting.Go(begin)
			}
		case <-pace:
			starting.Go(begin)
		}
	}
}
