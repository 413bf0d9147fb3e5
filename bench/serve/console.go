package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"

	"golang.org/x/sync/errgroup"
)

// view returns a page of the console or an answer of its API.
func (s *server) view(ctx context.Context, path string) ([]byte, error) {
	answer, err := s.get(ctx, path, viewKey)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d: %.200s", path, answer.StatusCode, text)
	}
	return text, err
}

// consoleLists reads lists of very many runs: pages, filters, counts and groups of waits.
func consoleLists(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		if _, err := s.oneRun(ctx); err != nil {
			return nil, err
		}
		if err := errors.Join(s.stop(), s.fill(ctx, s.ended), s.start(ctx)); err != nil {
			return nil, err
		}
		of := " of " + number(float64(s.ended)) + " runs"
		var rows []row
		for _, q := range []struct{ what, filter, path, aim string }{
			{"pages of 50" + of, "", "", "20 ms"},
			{"– of a state", "state:SUCCESS", "", "20 ms"},
			{"– of a state that none has", "state:FAILURE", "", "20 ms"},
			{"– without a state", "-state:FAILURE", "", "20 ms"},
			{"– of an outcome", "outcome:succeeded", "", "20 ms"},
			{"– of a flow", "flow:bench", "", "20 ms"},
			{"– of a flow that none has", "flow:none", "", "20 ms"},
			{"– by the beginning of a flow", "flow:be*", "", "20 ms"},
			{"– of a label that none has", "label:team=a", "", "20 ms"},
			{"– of an error code that none has", "code:none", "", "20 ms"},
			{"– of runs that were undone", "undo:undone", "", "20 ms"},
			{"– by creation", "created:<1h", "", "20 ms"},
			{"– by end", "ended:<1h", "", "20 ms"},
			{"– by the beginning of an id", "id:bench:0*", "", "20 ms"},
			{"– not started by a run", "is:top", "", "20 ms"},
			{"– that a person must decide", "is:person", "", "20 ms"},
			{"counts by state and hour", "", "/api/v1/counts?width=1h", "200 ms"},
			{"groups of waits", "", "/api/v1/waiting?", "200 ms"},
			{"the page of the console", "", "/console/runs?", "200 ms"},
		} {
			path := q.path
			if path == "" {
				path = "/api/v1/runs?"
			}
			if q.filter != "" {
				path += "&filter=" + url.QueryEscape(q.filter)
			}
			m, err := s.viewing(ctx, path, q.path == "")
			if err != nil {
				return rows, err
			}
			rows = append(rows, row{what: q.what, aim: "p99 " + q.aim, m: m, quiet: true})
		}
		return rows, nil
	})
}

// viewing lets one client read a path, with next pages if the answer has any.
func (s *server) viewing(ctx context.Context, path string, pages bool) (*sample, error) {
	cursor := ""
	return s.load(ctx, 1, func(ctx context.Context, _, _ int) error {
		text, err := s.view(ctx, path+cursor)
		if err != nil || !pages {
			return err
		}
		var page struct {
			Next string `json:"next"`
		}
		cursor = ""
		if err := json.Unmarshal(text, &page); err == nil && page.Next != "" {
			cursor = "&cursor=" + url.QueryEscape(page.Next)
		}
		return nil
	})
}

// oneRun starts an execution, waits for its end, and returns the id of its run.
func (s *server) oneRun(ctx context.Context) (string, error) {
	arn, err := s.machine(ctx, "bench", "STANDARD", onePass)
	if err != nil {
		return "", err
	}
	if err := s.sfn(ctx, "StartExecution", object{"stateMachineArn": arn, "input": "{}"}, nil); err != nil {
		return "", err
	}
	if _, err := s.untilEnded(ctx, arn); err != nil {
		return "", err
	}
	text, err := s.view(ctx, "/api/v1/runs?limit=1")
	if err != nil {
		return "", err
	}
	var page struct {
		Runs []struct {
			ID string `json:"run"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(text, &page); err != nil || len(page.Runs) != 1 {
		return "", fmt.Errorf("no run: %w: %s", err, text)
	}
	return page.Runs[0].ID, nil
}

var asset = regexp.MustCompile(`(?:src|href)="([^"]+\.(?:css|js|svg))"`)

// consoleWeight adds up what a browser fetches for the page of a run, compressed.
func consoleWeight(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		run, err := s.oneRun(ctx)
		if err != nil {
			return nil, err
		}
		path := "/console/run?id=" + url.QueryEscape(run)
		page, err := s.view(ctx, path)
		if err != nil {
			return nil, err
		}
		parts := [][]byte{page}
		base, err := url.Parse(s.address + path)
		if err != nil {
			return nil, err
		}
		for _, found := range asset.FindAllSubmatch(page, -1) {
			at, err := base.Parse(string(found[1]))
			if err != nil {
				return nil, err
			}
			part, err := s.view(ctx, at.Path)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		total := 0
		for _, part := range parts {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, err := w.Write(part)
			if err := errors.Join(err, w.Close()); err != nil {
				return nil, err
			}
			total += out.Len()
		}
		binary, err := os.Stat(s.command)
		if err != nil {
			return nil, err
		}
		const kibi = 1 << 10
		r := row{what: "the page of a run, compressed", aim: "100 KiB"}
		r.notef("%.1f KiB in %d files", float64(total)/kibi, len(parts))
		r.notef("the binary has %.1f MiB", float64(binary.Size())/kibi/kibi)
		return []row{r}, nil
	})
}

// consoleViewers compares the rate of starts without viewers with that beside viewers of the list of runs.
func consoleViewers(ctx context.Context, b *bench) ([]row, error) {
	return b.onServer(ctx, func(s *server) ([]row, error) {
		arn, err := s.machine(ctx, "bench", "STANDARD", onePass)
		if err != nil {
			return nil, err
		}
		alone, err := s.starts(ctx, "StartExecution", arn)
		if err != nil {
			return nil, err
		}
		before, err := s.heap(ctx)
		if err != nil {
			return nil, err
		}
		watching, stop := context.WithCancel(ctx)
		defer stop()
		var group errgroup.Group
		for range s.viewers {
			group.Go(func() error { return s.watch(ctx, watching) })
		}
		beside, err := s.starts(ctx, "StartExecution", arn)
		if err != nil {
			return nil, err
		}
		after, err := s.heap(ctx)
		stop()
		if err = errors.Join(err, group.Wait()); err != nil {
			return nil, err
		}
		r := row{
			what: "StartExecution beside " + number(float64(s.viewers)) + " viewers of the list of runs",
			aim:  "5 % less; 64 MiB", m: beside,
		}
		r.notef("%.2f of the rate without", beside.rate()/alone.rate())
		r.notef("live heap %.3g MiB, %.3g without", after, before)
		return []row{r}, nil
	})
}

// watch reads the stream of changes of the list of runs, again and again until stopping ends.
func (s *server) watch(ctx, stopping context.Context) error {
	for stopping.Err() == nil {
		answer, err := s.get(stopping, "/console/stream?on=runs", viewKey)
		if stopping.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return errors.Join(fmt.Errorf("the stream has status %d", answer.StatusCode), answer.Body.Close())
		}
		_, _ = io.Copy(io.Discard, answer.Body) // until the server or stopping ends it
		if err := answer.Body.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
