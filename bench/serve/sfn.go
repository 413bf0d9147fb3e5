package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	gosync "sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	roleARN = "arn:aws:iam::" + account + ":role/bench"
	//nolint:gosec // a state is no password
	onePass = `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`
)

// computing returns the definition of a machine of five states that only compute.
func computing() string {
	const states = 5
	all := object{}
	for i := range states {
		state := object{"Type": "Pass", "Result": i, "Next": fmt.Sprint("S", i+1)}
		if i == states-1 {
			delete(state, "Next")
			state["End"] = true
		}
		all[fmt.Sprint("S", i)] = state
	}
	text, err := json.Marshal(object{"StartAt": "S0", "States": all})
	if err != nil {
		panic(err) // it has nothing that cannot be JSON
	}
	return string(text)
}

// machine creates a machine, and returns its ARN.
func (s *server) machine(ctx context.Context, name, kind, definition string) (string, error) {
	var out struct {
		ARN string `json:"stateMachineArn"`
	}
	err := s.sfn(ctx, "CreateStateMachine", object{
		"name": name, "roleArn": roleARN, "type": kind, "definition": definition,
	}, &out)
	return out.ARN, err
}

// starts is a load of executions of a machine.
func (s *server) starts(ctx context.Context, operation, machine string) (*sample, error) {
	body := fmt.Sprintf(`{"stateMachineArn": %q, "input": "{}"}`, machine)
	return s.load(ctx, s.clients, func(ctx context.Context, _, _ int) error { return s.sfn(ctx, operation, body, nil) })
}

// untilEnded waits until no execution of a machine runs, and returns how long that took.
func (s *server) untilEnded(ctx context.Context, machine string) (time.Duration, error) {
	began := time.Now()
	for {
		var page struct {
			Executions []struct{} `json:"executions"`
		}
		err := s.sfn(ctx, "ListExecutions", object{
			"stateMachineArn": machine, "statusFilter": "RUNNING", "maxResults": 1,
		}, &page)
		if err != nil || len(page.Executions) == 0 {
			return time.Since(began), err
		}
	}
}

// onServer runs a measurement on a server of its own.
func (b *bench) onServer(ctx context.Context, do func(s *server) ([]row, error)) (rows []row, err error) {
	s, err := b.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	return do(s)
}

func start(ctx context.Context, b *bench) ([]row, error) {
	return b.started(ctx, "StartExecution, one state", "2,000; p99 50 ms", onePass)
}

func fiveStates(ctx context.Context, b *bench) ([]row, error) {
	return b.started(ctx, "StartExecution, five computing states", "1,000", computing())
}

func (b *bench) started(ctx context.Context, what, aim, definition string) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		arn, err := s.machine(ctx, "bench", "STANDARD", definition)
		if err != nil {
			return nil, err
		}
		m, err := s.starts(ctx, "StartExecution", arn)
		if err != nil {
			return nil, err
		}
		ended, err := s.untilEnded(ctx, arn)
		if err != nil {
			return nil, err
		}
		r, err := s.withCeilings(ctx, stepFunctions, what, aim, m)
		r.notef("all ended %s later (aim 1 s)", millis(ended))
		return []row{r}, err
	})
}

func sync(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		arn, err := s.machine(ctx, "bench", "EXPRESS", computing())
		if err != nil {
			return nil, err
		}
		m, err := s.starts(ctx, "StartSyncExecution", arn)
		if err != nil {
			return nil, err
		}
		r, err := s.withCeilings(ctx, stepFunctions, "StartSyncExecution, five computing states", "500; p99 50 ms", m)
		return []row{r}, err
	})
}

// activity creates an activity, and a machine whose states are formatted with its ARN.
func (s *server) activity(ctx context.Context, definition string) (activity, machine string, err error) {
	var out struct {
		ARN string `json:"activityArn"`
	}
	if err := s.sfn(ctx, "CreateActivity", object{"name": "work"}, &out); err != nil {
		return "", "", err
	}
	machine, err = s.machine(ctx, "bench", "STANDARD", fmt.Sprintf(definition, out.ARN))
	return out.ARN, machine, err
}

type activityTask struct {
	Token string `json:"taskToken"`
	Input string `json:"input"`
}

// work takes tasks of an activity until stopping ends. It calls each with a task that arrived, and then ends the task.
func (s *server) work(ctx, stopping context.Context, activity string, arrived, ended func(input string)) error {
	for stopping.Err() == nil {
		var t activityTask
		err := s.sfn(stopping, "GetActivityTask", object{"activityArn": activity}, &t)
		if stopping.Err() != nil {
			return nil //nolint:nilerr // it ended the call
		}
		if err != nil {
			return err
		}
		if t.Token == "" {
			continue
		}
		arrived(t.Input)
		if err := s.sfn(ctx, "SendTaskSuccess", object{"taskToken": t.Token, "output": t.Input}, nil); err != nil {
			return err
		}
		ended(t.Input)
	}
	return nil
}

// activities runs executions of which workers do two of five states. Half of the connections are the workers'.
func activities(ctx context.Context, b *bench) ([]row, error) {
	const definition = `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
		"B": {"Type": "Task", "Resource": %[1]q, "Next": "C"}, "C": {"Type": "Pass", "Next": "D"},
		"D": {"Type": "Task", "Resource": %[1]q, "Next": "E"}, "E": {"Type": "Pass", "End": true}}}`
	return b.onServer(ctx, func(s *server) ([]row, error) {
		activity, machine, err := s.activity(ctx, definition)
		if err != nil {
			return nil, err
		}
		stopping, stop := context.WithCancel(ctx)
		defer stop()
		half := max(s.clients/2, 1)
		done := make([]chan struct{}, half)
		for i := range done {
			done[i] = make(chan struct{}, 2)
		}
		var workers errgroup.Group
		for range half {
			workers.Go(func() error {
				return s.work(ctx, stopping, activity, func(string) {}, func(input string) {
					var client int
					if _, err := fmt.Sscanf(input, `{"client":%d}`, &client); err == nil && client < half {
						done[client] <- struct{}{}
					}
				})
			})
		}
		m, err := s.load(ctx, half, func(ctx context.Context, client, _ int) error {
			err := s.sfn(ctx, "StartExecution", object{
				"stateMachineArn": machine, "input": fmt.Sprintf(`{"client":%d}`, client),
			}, nil)
			if err != nil {
				return err
			}
			for range 2 {
				if err := within(ctx, done[client]); err != nil {
					return err
				}
			}
			return nil
		})
		stop()
		if err = errors.Join(err, workers.Wait()); err != nil {
			return nil, err
		}
		m.calls = 5
		r, err := s.withCeilings(ctx, stepFunctions, "executions with two of five states done by activities", "250", m)
		return []row{r}, err
	})
}

// within waits for what should come soon.
func within[T any](ctx context.Context, c <-chan T) error {
	const patience = time.Minute
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("nothing came within %v", patience)
	}
}

// pollers lets many pollers wait, and then gives them tasks.
func pollers(ctx context.Context, b *bench) ([]row, error) {
	const definition = `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": %q, "End": true,
		"Parameters": {"began.$": "$.began", "entered.$": "$$.State.EnteredTime"}}}}`
	return b.onServer(ctx, func(s *server) ([]row, error) {
		activity, machine, err := s.activity(ctx, definition)
		if err != nil {
			return nil, err
		}
		stopping, stop := context.WithCancel(ctx)
		defer stop()
		var mu gosync.Mutex
		var took []time.Duration
		came := make(chan struct{}, s.pollers)
		var workers errgroup.Group
		for range s.pollers {
			workers.Go(func() error {
				return s.work(ctx, stopping, activity, func(input string) {
					var in struct {
						Entered time.Time `json:"entered"`
					}
					if json.Unmarshal([]byte(input), &in) == nil {
						mu.Lock()
						took = append(took, time.Since(in.Entered))
						mu.Unlock()
					}
				}, func(string) { came <- struct{}{} })
			})
		}
		if err := pause(ctx, min(s.time, time.Second)); err != nil { // until all wait
			return nil, err
		}
		idle, err := s.measured(ctx, func(ctx context.Context, _ *sample) error { return pause(ctx, s.time) })
		if err != nil {
			return nil, err
		}
		m, err := s.load(ctx, 1, func(ctx context.Context, _, _ int) error {
			err := s.sfn(ctx, "StartExecution", object{"stateMachineArn": machine, "input": `{"began": 0}`}, nil)
			return errors.Join(err, within(ctx, came))
		})
		stop()
		if err = errors.Join(err, workers.Wait()); err != nil {
			return nil, err
		}
		m.took = took
		sortDurations(m.took)
		waiting := row{what: number(float64(s.pollers)) + " waiting activity pollers", aim: "2 % of a processor"}
		waiting.notef("%.2g %% of a processor", idle.cpu*100)
		return []row{waiting, {
			what: "from scheduling an activity to one of these pollers", aim: "p99 20 ms", m: m, quiet: true,
		}}, nil
	})
}
