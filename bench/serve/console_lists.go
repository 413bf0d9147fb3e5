package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// runsOf are the definitions of runs that lists have: each selects by something else.
var runsOf = []struct{ name, label, text string }{
	{"ok", "a", onePass},
	{"broken", "b", `{"StartAt": "A", "States": {"A": {"Type": "Fail", "Error": "Broken"}}}`},
	{"undone", "b", `{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "exec:true", "Revert": "exec:true", "Next": "B"},
		"B": {"Type": "Fail", "Error": "Full"}}}`},
}

// kindsOfRuns makes a run with a child, and one of each of runsOf. It stops the server, and returns the parent's id and
// how many runs it made.
func (s *server) kindsOfRuns(ctx context.Context) (parent string, runs int, err error) {
	child, err := s.machine(ctx, "child", "STANDARD", onePass)
	if err != nil {
		return "", 0, err
	}
	arn, err := s.machine(ctx, "parent", "STANDARD", fmt.Sprintf(`{"StartAt": "A", "States": {"A": {"Type": "Task",
		"Resource": "arn:aws:states:::states:startExecution.sync", "Parameters": {"StateMachineArn": %q},
		"End": true}}}`, child))
	if err != nil {
		return "", 0, err
	}
	if err := s.sfn(ctx, "StartExecution", object{"stateMachineArn": arn, "input": "{}"}, nil); err != nil {
		return "", 0, err
	}
	if _, err := s.untilEnded(ctx, arn); err != nil {
		return "", 0, err
	}
	text, err := s.view(ctx, "/api/v1/runs?filter=parent:*")
	var page struct {
		Runs []struct {
			Parent string `json:"parent"`
		} `json:"runs"`
	}
	if err = errors.Join(err, json.Unmarshal(text, &page)); err != nil || len(page.Runs) != 1 {
		return "", 0, fmt.Errorf("no child: %w: %s", err, text)
	}
	if err := s.stop(); err != nil {
		return "", 0, err
	}
	for _, r := range runsOf {
		file := filepath.Join(s.folder, r.name+".asl.json")
		if err := os.WriteFile(file, []byte(r.text), 0o600); err != nil {
			return "", 0, err
		}
		c := exec.CommandContext(ctx, s.command, "run", file, "--dsn", s.at, "--id", "bench-"+r.name+"-00000000", "--label",
			"team="+r.label)
		out, err := c.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return "", 0, fmt.Errorf("%s: %w: %s", r.name, err, out)
		}
	}
	return page.Runs[0].Parent, len(runsOf) + 2, nil //nolint:mnd // parent and child
}

// A listed is a row of lists: the slowest of some filters.
type listed struct {
	what    string
	filters []string
	path    string // instead of pages of runs
	aim     string
}

// singles are filters of one term. Runs match all of them.
func singles() []listed {
	return []listed{
		{what: "– by state", filters: []string{"state:SUCCESS", "-state:FAILURE"}},
		{what: "– by outcome", filters: []string{"outcome:succeeded", "-outcome:failed"}},
		{what: "– by flow", filters: []string{"flow:ok", "flow:o*", "-flow:ok"}},
		{what: "– by label", filters: []string{"label:team=a", "label:team"}},
		{what: "– by error code", filters: []string{"code:Broken", "code:B*"}},
		{what: "– by what was undone", filters: []string{"undo:undone"}},
		{what: "– by creation", filters: []string{"created:<1d"}},
		{what: "– by end", filters: []string{"ended:<1d"}},
		{what: "– by id", filters: []string{"id:bench-ok-000000*"}},
		{what: "– by what `is:` says", filters: []string{"is:top", "is:ended", "is:open", "is:person"}},
	}
}

// none are filters that no run matches.
var none = []string{
	"state:SUSPENDED", "outcome:cancelled", "flow:none", "label:team=none", "code:none", "undo:failed", "parent:none",
	"id:none", "created:>1000d", "ended:>1000d",
}

// pairs are the pairs of filters that docs/reference/api.md lists, by their first term. No run matches the last ones.
func pairs(parent string) (rows []listed, nothing []string) {
	ends := map[string]string{ // state and outcome of the runs that the term selects
		"flow:ok": "SUCCESS succeeded", "label:team=a": "SUCCESS succeeded", "parent:" + parent: "SUCCESS succeeded",
		"code:Broken": "FAILURE failed", "undo:undone": "REVERTED failed",
	}
	for _, term := range []string{"flow:ok", "label:team=a", "parent:" + parent, "code:Broken", "undo:undone"} {
		field, _, _ := strings.Cut(term, ":")
		state, outcome, _ := strings.Cut(ends[term], " ")
		row := listed{what: "– by " + field + " and one more"}
		for _, and := range []string{
			"state:" + state, "-state:RUNNING", "outcome:" + outcome, "is:ended", "created:<1d", "ended:<1d",
		} {
			row.filters = append(row.filters, term+" "+and)
		}
		rows = append(rows, row)
		for _, and := range []string{"state:SUSPENDED", "outcome:cancelled", "is:open", "created:>1000d", "ended:>1000d"} {
			nothing = append(nothing, term+" "+and)
		}
	}
	return rows, nothing
}

// others are filters of which no index decides all, and which no run matches.
var others = []string{
	"flow:ok label:team=b", "code:Broken label:team=a", "undo:undone flow:ok", "label:team=a -flow:ok",
	"-id:bench* flow:ok",
}

// searches are filters by the beginning of very many ids.
var searches = []string{"bench-ok", "id:bench-broken* flow:ok"}

// consoleLists reads lists of very many runs: pages, filters, counts and groups of waits, alone and at full rate.
func consoleLists(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) (rows []row, err error) {
		parent, kinds, err := s.kindsOfRuns(ctx)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(s.fill(ctx, s.ended, kinds), s.start(ctx)); err != nil {
			return nil, err
		}
		const page, rest, busy = "p99 20 ms", "p99 200 ms", "p99 50 ms"
		read := func(of ...listed) error {
			for i := range of {
				m, slow, err := s.slowest(ctx, &of[i])
				if err != nil {
					return fmt.Errorf("%s: %w", of[i].what, err)
				}
				r := row{what: of[i].what, aim: of[i].aim, m: m, quiet: true, bare: true}
				if r.aim == "" {
					r.aim = page
				}
				if len(of[i].filters) > 1 {
					r.notef("slowest of %d: `%s`", len(of[i].filters), strings.ReplaceAll(slow, parent, "…"))
				}
				rows = append(rows, r)
			}
			return nil
		}
		one := singles()
		two, nothing := pairs(parent)
		counts := []listed{
			{what: "counts by state and hour", path: "/api/v1/counts?width=1h", aim: rest},
			{what: "groups of waits", path: "/api/v1/waiting?", aim: rest},
			{what: "the page of the console", path: "/console/runs?", aim: rest},
		}
		all := slices.Concat(
			[]listed{{what: "pages of 50 of " + number(float64(s.ended)) + " runs", filters: []string{""}}}, one, two,
			[]listed{
				{what: "– that no run matches, one term", filters: none},
				{what: "– that no run matches, two terms", filters: nothing},
				{what: "– by other terms, up to a bound", filters: others, aim: rest},
				{what: "– by the beginning of very many ids, up to a bound", filters: searches, aim: rest},
			}, counts)
		if err := read(all...); err != nil {
			return rows, err
		}
		every := func(of []listed) (filters []string) {
			for i := range of {
				filters = append(filters, of[i].filters...)
			}
			return filters
		}
		arn, err := s.machine(ctx, "load", "STANDARD", onePass)
		if err != nil {
			return rows, err
		}
		beside := "while " + number(float64(s.clients)) + " clients start executions: pages"
		started, err := s.beside(ctx, arn, func() error {
			return read(
				listed{what: beside, filters: []string{""}, aim: busy},
				listed{what: "– one term", filters: every(one), aim: busy},
				listed{what: "– two terms", filters: every(two), aim: busy},
				listed{what: "– that no run matches", filters: slices.Concat(none, nothing), aim: busy},
				listed{what: "– the page of the console", path: "/console/runs?", aim: rest})
		})
		if len(rows) > 0 {
			rows[len(rows)-1].notef("%s executions a second", number(started))
		}
		return rows, err
	})
}

// beside does something while clients start executions of a machine, and returns how many they started in a second.
func (s *server) beside(ctx context.Context, machine string, do func() error) (rate float64, err error) {
	body := fmt.Sprintf(`{"stateMachineArn": %q, "input": "{}"}`, machine)
	stop := make(chan struct{})
	counts := make([]int, s.clients)
	began := time.Now()
	var group errgroup.Group
	for client := range s.clients {
		group.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				if err := s.sfn(ctx, "StartExecution", body, nil); err != nil {
					return err
				}
				counts[client]++
			}
		})
	}
	err = do()
	took := time.Since(began)
	close(stop)
	err = errors.Join(err, group.Wait())
	for _, n := range counts {
		rate += float64(n) / took.Seconds()
	}
	return rate, err
}

// slowest lets one client read the pages of some filters in turns, with next pages where there are any. It returns what
// was measured of the filter whose 99th percentile is the greatest.
func (s *server) slowest(ctx context.Context, of *listed) (m *sample, slow string, err error) {
	filters := of.filters
	if of.path != "" {
		filters = []string{""}
	}
	took, cursors := make([][]time.Duration, len(filters)), make([]string, len(filters))
	m, err = s.load(ctx, 1, func(ctx context.Context, _, n int) error {
		i, path := n%len(filters), of.path
		if path == "" {
			path = "/api/v1/runs?filter=" + url.QueryEscape(filters[i]) + cursors[i]
		}
		began := time.Now()
		text, err := s.view(ctx, path)
		took[i] = append(took[i], time.Since(began))
		if err != nil || of.path != "" {
			return err
		}
		var page struct {
			Next string `json:"next"`
		}
		cursors[i] = ""
		if err := json.Unmarshal(text, &page); err == nil && page.Next != "" {
			cursors[i] = "&cursor=" + url.QueryEscape(page.Next)
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	at := 0
	of99 := func(i int) time.Duration { return (&sample{took: took[i]}).at(0.99) } //nolint:mnd // as in the table
	for i := range took {
		if slices.Sort(took[i]); of99(i) > of99(at) {
			at = i
		}
	}
	m.took, m.count = took[at], len(took[at])
	return m, filters[at], nil
}
