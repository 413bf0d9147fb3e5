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
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/flow/draw"
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
		r := row{what: "the page of a run, compressed", aim: "100 KiB", bare: true}
		r.notef("%.1f KiB in %d files", float64(total)/kibi, len(parts))
		r.notef("the binary has %.1f MiB", float64(binary.Size())/kibi/kibi)
		return []row{r}, nil
	})
}

// consoleLayout lays out a graph of 10,000 nodes in layers of 100, each with edges to two nodes of the next layer.
func consoleLayout(ctx context.Context, b *bench) ([]row, error) {
	const nodes, layer = 10_000, 100
	var v draw.View
	for i := range nodes {
		v.Nodes = append(v.Nodes, draw.Node{ID: strconv.Itoa(i), Label: "step", Kind: draw.Task})
		if next := (i/layer + 1) * layer; next < nodes {
			for _, to := range []int{next + i*7%layer, next + (i*13+1)%layer} {
				v.Edges = append(v.Edges, draw.Edge{From: strconv.Itoa(i), To: strconv.Itoa(to)})
			}
		}
	}
	m := &sample{}
	for began := time.Now(); len(m.took) == 0 || time.Since(began) < b.time; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := time.Now()
		draw.Place(v)
		m.took = append(m.took, time.Since(before))
	}
	slices.Sort(m.took)
	return []row{{what: "layout of 10,000 nodes and 20,000 edges", aim: "50 ms", m: m, quiet: true, bare: true}}, nil
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
			aim:  "5 % less; 64 MiB", m: beside, bare: true,
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
