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
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// The steps of a run that is killed, and how many of them are committed then.
const (
	resumeSteps = 5
	resumeDone  = 2
)

// resume kills a process that is in the middle of many runs, and measures how
// long another takes until all have ended, its start included. Beside it, many:
// at that rate the steps that are left would take so long.
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

// An actor is a process of its own that does a part.
type actor struct {
	process *exec.Cmd
	said    io.Reader
}

// act starts a process and waits until it says that it is ready.
func (b *bench) act(ctx context.Context, part, dsn string, runs int) (*actor, error) {
	cmd := exec.CommandContext(ctx, b.self[0], append(b.self[1:], part, dsn, strconv.Itoa(runs))...)
	cmd.Args[0] = os.Args[0] // called as this one is
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

// end waits for the end of the process; that it was killed is no error.
func (a *actor) end() error {
	err := a.process.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && !a.process.ProcessState.Exited() {
		return nil
	}
	return err
}

// Act does what a process of its own does for the workload resume: part, a DSN
// and a number are the arguments that follow those of [Config].Self. It says on
// out when it has come so far, and returns when it is told to end or has.
func Act(ctx context.Context, part, dsn string, runs int, out io.Writer) (err error) {
	store, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }() //nolint:contextcheck // it has none
	switch part {
	case "leave":
		return leave(ctx, store, runs, out)
	case "resume":
		return takeUp(ctx, store, runs, out)
	default:
		return fmt.Errorf("enginebench: no part is called %q", part)
	}
}

// resumed is the flow; what its steps do between the committed ones and the rest
// is told.
func resumed(store storage.Store, pause func(context.Context), opts ...engine.Option) (*engine.Engine, error) {
	var nodes []flow.Node
	for i := range resumeSteps {
		nodes = append(nodes, atom.Func(fmt.Sprintf("step%d", i+1), func(ctx context.Context, in payload) (payload, error) {
			if i == resumeDone {
				pause(ctx)
			}
			return in, ctx.Err()
		}))
	}
	return engine.New(flow.Linear("bench-resume", nodes...), append(opts, engine.WithStore(store),
		engine.With(bodyKey, body))...)
}

// leave brings runs half way and waits for its end.
func leave(ctx context.Context, store storage.Store, runs int, out io.Writer) error {
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

// takeUp drives what was left until all of it has ended.
func takeUp(ctx context.Context, store storage.Store, runs int, out io.Writer) error {
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
