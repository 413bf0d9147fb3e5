package enginebench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// The steps of a run that is killed, and how many of them are committed then.
const (
	resumeSteps = 5
	resumeDone  = 2
)

// resume kills a process that has executed half of many runs. It measures how long another process takes to start and
// to end them all. The workload many, measured just before, says how long the remaining steps take by themselves.
func resume(ctx context.Context, b *bench) error {
	if err := many(ctx, b); err != nil {
		return err
	}
	rate := b.meter.result("").StepsPerS
	n := b.size(1000)
	dsn := "sqlite:" + filepath.Join(b.target.dir, "resume.db")
	killed, err := b.act(ctx, "leave", dsn, n)
	if err != nil {
		return err
	}
	if err := errors.Join(killed.process.Process.Kill(), killed.end()); err != nil {
		return err
	}
	begun := time.Now()
	heir, err := b.act(ctx, "resume", dsn, n)
	took := time.Since(begun)
	if err != nil {
		return err
	}
	left := int64(n * (resumeSteps - resumeDone))
	b.own = &Result{
		Steps: left, StepsPerS: Figure(float64(left) / took.Seconds()), CeilingPerS: rate,
		P50: unknown, P99: unknown, RowsPerStep: unknown, BytesPerStep: unknown, FsyncsPerStep: unknown,
		CPUPerStep: unknown, CeilingCPU: unknown, PeakRSS: unknown, StepsPerTx: unknown,
		Resume: Figure(took.Seconds()), ResumeOver: Figure(took.Seconds()) - Figure(left)/rate,
	}
	b.own.Ratio = b.own.StepsPerS / rate
	return heir.end()
}

// An actor is another process, which executes one part of the workload.
type actor struct {
	process *exec.Cmd
	said    io.Reader
}

// act starts a process and waits until it says that it is ready.
func (b *bench) act(ctx context.Context, part, dsn string, runs int) (*actor, error) {
	cmd := exec.CommandContext(ctx, b.self[0], append(b.self[1:], part, dsn, strconv.Itoa(runs))...)
	cmd.Args[0] = os.Args[0] // under the name of this process
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	a := &actor{cmd, out}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != ready {
		return nil, errors.Join(fmt.Errorf("%s: %w: %s", part, err, problems.String()), cmd.Process.Kill(), a.end())
	}
	return a, nil
}

const ready = "ready\n"

// end waits for the end of the process. It returns no error if the process was killed.
func (a *actor) end() error {
	err := a.process.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && !a.process.ProcessState.Exited() {
		return nil
	}
	return err
}

// Act is the other process of the workload resume. The arguments after those of [Config].Self are the part, the DSN and
// the number of runs. Act writes a line to out when the runs are half done (part leave), or have all ended (resume).
// It returns when all have ended, or when ctx ends.
func Act(ctx context.Context, part, dsn string, runs int, out io.Writer) (err error) {
	store, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	switch part {
	case "leave":
		return leave(ctx, store, runs, out)
	case "resume":
		return takeUp(ctx, store, runs, out)
	default:
		return fmt.Errorf("enginebench: no part is called %q", part)
	}
}

// resumed returns an engine for the runs. It calls pause in each run between the steps that are committed and the rest.
func resumed(store backend.Store, pause func(context.Context), opts ...engine.Option) (*engine.Engine, error) {
	var nodes []flow.Node
	for i := range resumeSteps {
		nodes = append(nodes, atom.Func(fmt.Sprintf("step%d", i+1), func(ctx context.Context, in payload) (payload, error) {
			if i == resumeDone {
				pause(ctx)
			}
			return in, ctx.Err()
		}))
	}
	return engine.New(flow.Linear("bench-resume", nodes...), store, append(opts, engine.With(bodyKey, body))...)
}

// leave executes the first half of the runs, and waits until the process is killed.
func leave(ctx context.Context, store backend.Store, runs int, out io.Writer) error {
	var there atomic.Int64
	all := make(chan struct{})
	eng, err := resumed(store, func(ctx context.Context) {
		if there.Add(1) == int64(runs) {
			close(all)
		}
		<-ctx.Done()
	})
	if err != nil {
		return err
	}
	failed := make(chan error, runs)
	for i := range runs {
		go func() {
			_, err := eng.Run(ctx, fmt.Sprintf("bench-resume-%d", i))
			failed <- err
		}()
	}
	select {
	case <-all:
	case err := <-failed:
		return fmt.Errorf("a run ended where it was to stay: %w", err)
	}
	_, err = io.WriteString(out, ready)
	<-ctx.Done()
	for range runs {
		<-failed //nolint:errcheck // each says that it was stopped
	}
	return err
}

// takeUp resumes the runs, and returns when all have ended.
func takeUp(ctx context.Context, store backend.Store, runs int, out io.Writer) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var ended atomic.Int64
	eng, err := resumed(store, func(context.Context) {}, engine.WithObserver(func(ev engine.Event) {
		if ev.Kind == engine.FlowChanged && ev.To == states.FlowSuccess.String() && ended.Add(1) == int64(runs) {
			stop()
		}
	}))
	if err != nil {
		return err
	}
	if err := eng.Serve(serving, engine.WithSlots(runs)); err != nil {
		return err
	}
	if n := ended.Load(); n != int64(runs) {
		return fmt.Errorf("%d of %d runs have ended", n, runs)
	}
	_, err = io.WriteString(out, ready)
	return err
}
