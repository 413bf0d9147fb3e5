package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// timers opens very many executions that wait for a timer. Some of the timers are due in the same second.
func timers(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		if err := s.register(ctx); err != nil {
			return nil, err
		}
		empty, err := s.heap(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.waiting(ctx, "later", 24*time.Hour); err != nil {
			return nil, err
		}
		if err := errors.Join(s.stop(), s.fill(ctx, s.open-s.due-1, 1), s.start(ctx)); err != nil {
			return nil, err
		}
		soon := min(s.time, 10*time.Second) // enough for the copies
		soon = max(soon.Truncate(time.Second), time.Second)
		due := time.Now().Add(soon)
		if err := s.waiting(ctx, "soon", soon); err != nil {
			return nil, err
		}
		if err := errors.Join(s.stop(), s.fill(ctx, s.due-1, 1), s.start(ctx)); err != nil {
			return nil, err
		}
		full, err := s.heap(ctx)
		if err != nil {
			return nil, err
		}
		late := max(time.Since(due), 0)
		if err := s.takeDecisions(ctx, s.due); err != nil {
			return nil, err
		}
		took := time.Since(due)
		r := row{
			what: number(float64(s.open)) + " open executions with a timer, " + number(float64(s.due)) + " due in one second",
			aim:  "heap flat; all polled in 3 s",
		}
		r.notef("live heap %.3g MiB, %.3g without", full, empty)
		r.notef("all polled %.2g s after they were due", took.Seconds())
		if late > 0 {
			r.notef("the server was started %.2g s too late", late.Seconds())
		}
		return []row{r}, nil
	})
}

// takeDecisions polls for so many decision tasks.
func (s *server) takeDecisions(ctx context.Context, n int) error {
	taken := make(chan struct{}, n)
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	for range s.clients {
		group.Go(func() error {
			for {
				t, err := s.take(stopping, "PollForDecisionTask", decide)
				if t == nil || err != nil {
					return err
				}
				taken <- struct{}{}
			}
		})
	}
	for range n {
		if err := within(ctx, taken); err != nil {
			stop()
			return errors.Join(err, group.Wait())
		}
	}
	stop()
	return group.Wait()
}

// heap returns the live heap in MiB after the latest garbage collection.
func (s *server) heap(ctx context.Context) (float64, error) {
	const percent, mebi = 100, 1 << 20
	if err := pause(ctx, min(s.time/4, 5*time.Second)); err != nil {
		return 0, err
	}
	values, err := s.metrics(ctx)
	return values["go_memstats_next_gc_bytes"] / (1 + values["go_gc_gogc_percent"]/percent) / mebi, err
}

// waiting starts an execution whose decider starts a timer.
func (s *server) waiting(ctx context.Context, id string, timer time.Duration) error {
	if err := s.begin(ctx, id); err != nil {
		return err
	}
	t, err := s.take(ctx, "PollForDecisionTask", decide)
	if err != nil {
		return err
	}
	return s.decided(ctx, t, object{
		"decisionType": "StartTimer", "startTimerDecisionAttributes": object{
			"timerId": "t", "startToFireTimeout": strconv.Itoa(int(timer.Seconds())),
		},
	})
}

// longDecision decides over the last page of a long history, and of a short one.
func longDecision(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		if err := errors.Join(s.register(ctx), s.long(ctx, "long"), s.begin(ctx, "short")); err != nil {
			return nil, err
		}
		if t, err := s.take(ctx, "PollForDecisionTask", decide); err != nil {
			return nil, err
		} else if err := s.decided(ctx, t); err != nil {
			return nil, err
		}
		of, err := s.decisions(ctx, "long", "short")
		if err != nil {
			return nil, err
		}
		long, short := of[0], of[1]
		events := number(float64(s.swfHistory))
		return []row{
			{
				what: "PollForDecisionTask, last page of " + events + " events", aim: "10 ms", m: long.polls, quiet: true,
				more: []string{"p99 of a short history " + millis(short.polls.at(0.99))},
			},
			{
				what: "signal, poll and response together, with " + events + " events", aim: "as with few", m: long.calls,
				quiet: true,
				more:  []string{fmt.Sprintf("%.2f of the time with few", float64(long.calls.at(0.5))/float64(short.calls.at(0.5)))},
			},
		}, nil
	})
}

// decisionTimes are the times of the polls of one execution, and of signal, poll and response together.
type decisionTimes struct{ polls, calls *sample }

// decisions signals executions and decides, in turns, again and again.
func (s *server) decisions(ctx context.Context, ids ...string) ([]decisionTimes, error) {
	const most = 200 // so that a short history stays short
	all := make([]decisionTimes, len(ids))
	for i := range all {
		all[i] = decisionTimes{&sample{}, &sample{}}
	}
	for range most {
		for i, id := range ids {
			began := time.Now()
			if err := s.signal(ctx, id); err != nil {
				return nil, err
			}
			polled := time.Now()
			t, err := s.take(ctx, "PollForDecisionTask", decide)
			if err != nil {
				return nil, err
			}
			all[i].polls.took = append(all[i].polls.took, time.Since(polled))
			if err := s.decided(ctx, t); err != nil {
				return nil, err
			}
			all[i].calls.took = append(all[i].calls.took, time.Since(began))
		}
	}
	for _, t := range all {
		sortDurations(t.polls.took)
		sortDurations(t.calls.took)
	}
	return all, nil
}

// long starts an execution, and gives it a history of many events.
func (s *server) long(ctx context.Context, id string) error {
	if err := s.begin(ctx, id); err != nil {
		return err
	}
	marker := object{
		"decisionType": "RecordMarker", "recordMarkerDecisionAttributes": object{"markerName": "m"},
	}
	for {
		t, err := s.take(ctx, "PollForDecisionTask", decide)
		if err != nil {
			return err
		}
		const most = 1000 // decisions
		missing := min(s.swfHistory-t.Started, most)
		if missing <= 0 {
			return s.decided(ctx, t)
		}
		decisions := make([]object, missing)
		for i := range decisions {
			decisions[i] = marker
		}
		if err := errors.Join(s.decided(ctx, t, decisions...), s.signal(ctx, id)); err != nil {
			return err
		}
	}
}

// closed lists and counts very many closed executions.
func closed(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		if err := s.register(ctx); err != nil {
			return nil, err
		}
		if err := s.begin(ctx, "x"); err != nil {
			return nil, err
		}
		if err := s.swf(ctx, "TerminateWorkflowExecution", object{"domain": domain, "workflowId": "x"}, nil); err != nil {
			return nil, err
		}
		if err := errors.Join(s.stop(), s.fill(ctx, s.ended, 1), s.start(ctx)); err != nil {
			return nil, err
		}
		of := " of " + number(float64(s.ended)) + " closed executions"
		ever := object{"oldestDate": 0}
		var rows []row
		for _, q := range []struct {
			what, operation string
			in              object
		}{
			{"ListClosedWorkflowExecutions, page of 100" + of, "ListClosedWorkflowExecutions", object{"closeTimeFilter": ever}},
			{"– by start, of one type", "ListClosedWorkflowExecutions", object{
				"startTimeFilter": ever, "typeFilter": object{"name": "order"},
			}},
			{"– with a status that none has", "ListClosedWorkflowExecutions", object{
				"closeTimeFilter": ever, "closeStatusFilter": object{"status": "FAILED"},
			}},
			{"CountClosedWorkflowExecutions", "CountClosedWorkflowExecutions", object{"closeTimeFilter": ever}},
			{"– by start, with a status that all have", "CountClosedWorkflowExecutions", object{
				"startTimeFilter": ever, "closeStatusFilter": object{"status": "TERMINATED"},
			}},
			{"ListOpenWorkflowExecutions beside them", "ListOpenWorkflowExecutions", object{"startTimeFilter": ever}},
		} {
			q.in["domain"] = domain
			if q.operation != "CountClosedWorkflowExecutions" {
				q.in["maximumPageSize"] = 100
			}
			m, err := s.pages(ctx, s.swf, q.operation, q.in, "nextPageToken")
			if err != nil {
				return rows, err
			}
			rows = append(rows, row{what: q.what, aim: "10 ms", m: m, quiet: true})
		}
		return rows, nil
	})
}
