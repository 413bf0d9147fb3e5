package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	restate "github.com/restatedev/sdk-go"
	endpoint "github.com/restatedev/sdk-go/server"
)

// restateWith returns a runner of workloads with Restate, whose server is a program of its own with its own log on
// disk. The settings are its defaults. The service is in this process, as the steps of the others are.
func restateWith(program string) func(context.Context, place, workload) (time.Duration, error) {
	return func(ctx context.Context, p place, w workload) (took time.Duration, err error) {
		if p.file == "" {
			return 0, errors.New("Restate keeps its own files: leave out -dsn, or -restate")
		}
		ports, err := freePorts(4)
		if err != nil {
			return 0, err
		}
		service, ingress, admin, node := ports[0], ports[1], ports[2], ports[3]
		ctx, stop := context.WithCancel(ctx)
		server := exec.CommandContext(ctx, program, "--listen-mode", "tcp", "--no-logo", "--base-dir", filepath.Dir(p.file))
		server.Env = append(os.Environ(), "RESTATE_INGRESS__BIND_ADDRESS="+ingress, "RESTATE_ADMIN__BIND_ADDRESS="+admin,
			"RESTATE_BIND_ADDRESS="+node, "RESTATE_ADVERTISED_ADDRESS=http://"+node, "RESTATE_LOG_FILTER=error",
			"RESTATE_AUTO_PROVISION=true", "DO_NOT_TRACK=1")
		if err := server.Start(); err != nil {
			stop()
			return 0, err
		}
		served := make(chan error, 1)
		watch := &stopwatch{warm: w.warm}
		go func() { served <- restateService(watch, w).Start(ctx, service) }()
		defer func() {
			stop()
			_ = server.Wait() // killed
			err = errors.Join(err, <-served)
		}()
		if err := untilRegistered(ctx, "http://"+admin+"/deployments", "http://"+service); err != nil {
			return 0, err
		}
		run := "http://" + ingress + "/bench/run"
		if err := post(ctx, run, "0"); err != nil { // the server has begun to work when it has ended
			return 0, err
		}
		return watch.time(ctx, w, func(ctx context.Context, _ int) error {
			return post(ctx, run, fmt.Sprint(w.steps))
		})
	}
}

// restateService returns the endpoint with the workflow.
func restateService(watch *stopwatch, w workload) *endpoint.Restate {
	step := func(restate.RunContext) (string, error) {
		watch.step()
		return body, nil
	}
	run := func(ctx restate.Context, steps int) (string, error) {
		if !w.parallel {
			for range steps {
				if _, err := restate.Run(ctx, step); err != nil {
					return "", err
				}
			}
			return body, nil
		}
		started := make([]restate.RunAsyncFuture[string], steps)
		for i := range started {
			started[i] = restate.RunAsync(ctx, step)
		}
		for _, one := range started {
			if _, err := one.Result(); err != nil {
				return "", err
			}
		}
		return body, nil
	}
	bench := restate.NewService("bench").Handler("run", restate.NewServiceHandler(run))
	return endpoint.NewRestate().WithLogger(slog.DiscardHandler, true).Bind(bench)
}

// freePorts returns addresses of this machine on which nobody listens.
func freePorts(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// untilRegistered tells the server where the service is, as soon as both are up.
func untilRegistered(ctx context.Context, deployments, service string) (err error) {
	for range 300 {
		if err = post(ctx, deployments, fmt.Sprintf(`{"uri": %q, "force": true}`, service)); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("Restate's server does not take the service: %w", err)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}

// post posts JSON.
func post(ctx context.Context, to, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s %s", to, resp.Status, answer)
	}
	return errors.Join(err, resp.Body.Close())
}
