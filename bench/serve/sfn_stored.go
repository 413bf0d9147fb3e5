package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// machines creates many machines with ten versions each. In turns, it starts executions of all of them and of one.
func machines(ctx context.Context, b *bench) ([]row, error) {
	const versions = 10
	return b.onServer(ctx, func(s *server) ([]row, error) {
		one, err := s.machine(ctx, "one", "STANDARD", onePass)
		if err != nil {
			return nil, err
		}
		arn, err := s.machine(ctx, "m", "STANDARD", onePass)
		if err != nil {
			return nil, err
		}
		for version := range versions {
			if err := s.sfn(ctx, "UpdateStateMachine", object{
				"stateMachineArn": arn, "publish": true,
				"definition": strings.Replace(onePass, "{", fmt.Sprintf(`{"Comment": "%d", `, version), 1),
			}, nil); err != nil {
				return nil, err
			}
		}
		names := make([]string, s.machines)
		for i := range names {
			names[i] = fmt.Sprint("m", i)
		}
		if err := errors.Join(s.stop(), s.copyMachine(ctx, "m", names), s.start(ctx)); err != nil {
			return nil, err
		}
		start := func(ctx context.Context, machine string) error {
			return s.sfn(ctx, "StartExecution", object{"stateMachineArn": machine, "input": "{}"}, nil)
		}
		few, m, err := s.loadInTurns(ctx, s.clients, func(ctx context.Context, _, _ int) error {
			return start(ctx, one)
		}, func(ctx context.Context, _, _ int) error {
			n := rand.IntN(len(names)) //nolint:gosec // any will do
			return start(ctx, arn+names[n][1:])
		})
		if err != nil {
			return nil, err
		}
		r, err := s.withCeilings(ctx, stepFunctions,
			"StartExecution of one of "+number(float64(s.machines))+" machines with ten versions", "as with one machine", m)
		r.notef("%.2f of the rate of one of them, in turns", m.rate()/few.rate())
		return []row{r}, err
	})
}

// executions lists the executions of a machine with very many, and starts more.
func executions(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		arn, err := s.machine(ctx, "bench", "STANDARD", onePass)
		if err != nil {
			return nil, err
		}
		before, err := s.starts(ctx, "StartExecution", arn)
		if err != nil {
			return nil, err
		}
		if _, err := s.untilEnded(ctx, arn); err != nil {
			return nil, err
		}
		if err := errors.Join(s.stop(), s.fill(ctx, s.ended, 1), s.start(ctx)); err != nil {
			return nil, err
		}
		of := " of " + number(float64(s.ended)) + " ended executions"
		var rows []row
		for _, list := range []struct {
			what string
			in   object
		}{
			{"ListExecutions, page of 100" + of, object{}},
			{"– with a status that none has", object{"statusFilter": "FAILED"}},
		} {
			list.in["stateMachineArn"], list.in["maxResults"] = arn, 100
			m, err := s.pages(ctx, s.sfn, "ListExecutions", list.in, "nextToken")
			if err != nil {
				return rows, err
			}
			rows = append(rows, row{what: list.what, aim: "10 ms", m: m, quiet: true})
		}
		m, err := s.starts(ctx, "StartExecution", arn)
		if err != nil {
			return rows, err
		}
		r, err := s.withCeilings(ctx, stepFunctions, "StartExecution beside them", "as before", m)
		r.notef("%.2f of the rate before", m.rate()/before.rate())
		return append(rows, r), err
	})
}

// pages lets one client read page after page of a list, and begin again after a hundred.
func (s *server) pages(ctx context.Context, call func(context.Context, string, any, any) error, operation string,
	in object, token string,
) (*sample, error) {
	const most = 100
	return s.load(ctx, 1, func(ctx context.Context, _, n int) error {
		if n%most == 0 {
			delete(in, token)
		}
		var out object
		if err := call(ctx, operation, in, &out); err != nil {
			return err
		}
		if next, ok := out[token]; ok {
			in[token] = next
		} else {
			delete(in, token)
		}
		return nil
	})
}

// lastPage reads the last page of a history that is as long as one can be.
func lastPage(ctx context.Context, b *bench) ([]row, error) {
	const loop = `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Choice", "Default": "A",
		"Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "C"}]}, "C": {"Type": "Succeed"}}}`
	return b.onServer(ctx, func(s *server) ([]row, error) {
		arn, err := s.machine(ctx, "bench", "STANDARD", loop)
		if err != nil {
			return nil, err
		}
		var x struct {
			ARN string `json:"executionArn"`
		}
		if err := s.sfn(ctx, "StartExecution", object{"stateMachineArn": arn, "input": "{}"}, &x); err != nil {
			return nil, err
		}
		if _, err := s.untilEnded(ctx, arn); err != nil {
			return nil, err
		}
		in := object{"executionArn": x.ARN, "reverseOrder": true, "maxResults": 100}
		m, err := s.load(ctx, 1, func(ctx context.Context, _, _ int) error {
			var out struct {
				Events []struct {
					ID int `json:"id"`
				} `json:"events"`
			}
			err := s.sfn(ctx, "GetExecutionHistory", in, &out)
			if err == nil && (len(out.Events) != 100 || out.Events[0].ID != s.sfnHistory) {
				err = fmt.Errorf("a page of %d events", len(out.Events))
			}
			return err
		})
		return []row{{
			what: "GetExecutionHistory, last page of " + number(float64(s.sfnHistory)) + " events", aim: "10 ms", m: m,
			quiet: true,
		}}, err
	})
}
