package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	enginetasks "github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage"
)

// TestConformanceASLOwn runs our own cases through the engine and a store, in virtual time. Each case runs once
// undisturbed. Then it runs with a process that dies at each commit in turn, before or after it, and another process
// that resumes the run.
func TestConformanceASLOwn(t *testing.T) {
	t.Parallel()
	playASLCases(t, "asl/own", conformance.ASLCases(t), 1, inMemory, playASL)
}

// TestConformanceASLOwnSQLite runs them, one of five outside of CI, on SQLite files, one of eight with deaths.
func TestConformanceASLOwnSQLite(t *testing.T) {
	t.Parallel()
	playASLCases(t, "asl/own sqlite", oneOf(conformance.ASLCases(t), longtest.Count(5, 3, 1)), 8, func() place {
		return closedOnDisk{onDisk{crashdisk.Careless(t)}}
	}, playASL)
}

// TestConformanceASLOwnPostgres runs the cases that take no time, one of ten outside of CI, on PostgreSQL, one of ten
// with deaths.
func TestConformanceASLOwnPostgres(t *testing.T) {
	t.Parallel()
	server := emptyServer(t)
	timeless := slices.DeleteFunc(conformance.ASLCases(t), func(c *conformance.ASLCase) bool { return c.Seconds > 0 })
	playASLCases(t, "asl/own postgres", oneOf(timeless, longtest.Count(10, 4, 1)), 10, server.emptied,
		func(t *testing.T, c *conformance.ASLCase, where place, d *death) *conformance.ASLEnd {
			t.Helper()
			if d == nil {
				where = openPlace{server.store} // for speed
			}
			end := playASLNow(t, c, where, d)
			end.Seconds = 0 // real time, as much as it takes
			return end
		})
}

// oneOf returns one of n cases, at least one.
func oneOf[T any](cases []T, n int) []T {
	var some []T
	for i := 0; i < len(cases); i += n {
		some = append(some, cases[i])
	}
	return some
}

// An openPlace is a store that stays open, for processes that do not die.
type openPlace struct{ store backend.Store }

func (p openPlace) open(context.Context) (backend.Store, error) { return keptOpen{p.store}, nil }
func (openPlace) died(backend.Store) error                      { return nil }

type keptOpen struct{ backend.Store }

func (keptOpen) Close() error { return nil }

// playASLCases plays cases, and one of so many with deaths. Under -short, only those in memory have deaths.
func playASLCases(
	t *testing.T, what string, cases []*conformance.ASLCase, one int, where func() place,
	play func(*testing.T, *conformance.ASLCase, place, *death) *conformance.ASLEnd,
) {
	t.Helper()
	alone, crashed := conformance.NewAspects(what), conformance.NewAspects(what+" crash")
	deaths := 0
	for i, c := range cases {
		alone.CountASL(c, play(t, c, where(), nil))
		if i%one > 0 || one > 1 && testing.Short() {
			continue
		}
		got, died := playDying(t, c.Name, c, where, play)
		crashed.CountASL(c, got)
		deaths += died
	}
	alone.Print(t)
	crashed.Print(t)
	t.Logf("%d deaths", deaths)
	for _, aspect := range conformance.ASLAspects {
		alone.Demand(t, aspect, 1)
		crashed.Demand(t, aspect, 1)
	}
}

// playASL plays a case in virtual time. It sets a death that happens to none.
func playASL(t *testing.T, c *conformance.ASLCase, where place, d *death) (end *conformance.ASLEnd) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { end = playASLNow(t, c, where, d) })
	return end
}

// playASLNow plays a case in the current time.
func playASLNow(t *testing.T, c *conformance.ASLCase, where place, d *death) *conformance.ASLEnd {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &aslPlay{c: c, where: where, death: d, script: c.Script(), begun: map[string]*aslReply{}, files: bucketsOf(t, c.Record())}
	end, err := p.play(ctx, t)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return &conformance.ASLEnd{}
	}
	return end
}

// An aslPlay plays one case.
type aslPlay struct {
	c       *conformance.ASLCase
	where   place
	death   *death
	files   *enginetasks.Registry
	outside backend.Store          // of parties outside of the process
	inside  atomic.Pointer[mortal] // of the current process
	died    bool

	mu     sync.Mutex
	script *conformance.ASLScript
	begun  map[string]*aslReply // by the key of the call
}

// An aslReply is the answer to a call that a process started, perhaps one that has died.
type aslReply struct {
	*conformance.ASLReply

	at time.Time // when the answer comes
}

func (p *aslPlay) play(ctx context.Context, t *testing.T) (*conformance.ASLEnd, error) {
	t.Helper()
	machine, err := asl.Parse("own", p.c.Definition)
	if err != nil {
		return nil, err
	}
	if p.outside, err = p.where.open(ctx); err != nil {
		return nil, err
	}
	first, err := engine.New(machine.Flow(), p.outside, engine.WithTasks(p))
	if err != nil {
		return nil, err
	}
	input := p.c.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	began := time.Now()
	if err := first.Start(ctx, playedRun, engine.Input(atom.FromJSON(input)), engine.Attributes(atom.MustEncode(asl.Attributes{
		ExecutionID: "arn:own", ExecutionName: "own", StateMachineID: "arn:machine", StateMachineName: "machine",
	}))); err != nil {
		return nil, err
	}
	res, err := p.live(ctx, machine)
	if err != nil {
		return nil, err
	}
	checkTrace(t, p.c.Name, p.outside, playedRun, machine) //nolint:contextcheck // it reads by the context of the test
	return &conformance.ASLEnd{
		//nolint:contextcheck // it asks the test's own context
		Outcome: outcome(t, first, res), Seconds: res.Run.Ended.Sub(began).Round(time.Millisecond).Seconds(),
		Unused: p.script.Unused(), Died: p.died,
	}, p.outside.Close()
}

// live lets one process after the other drive the run, until it has ended.
func (p *aslPlay) live(ctx context.Context, machine *asl.Machine) (*engine.Result, error) {
	for {
		store, err := p.where.open(ctx)
		if err != nil {
			return nil, err
		}
		lifetime, die := context.WithCancel(ctx)
		d := once(p.death, store, die)
		p.inside.Store(d)
		eng, err := engine.New(machine.Flow(), d, engine.WithTasks(p))
		if err != nil {
			die()
			return nil, err
		}
		res, err := eng.Run(lifetime, playedRun)
		die()
		if d.dead() {
			p.died = true
			if err := p.where.died(store); err != nil {
				return nil, err
			}
			continue
		}
		if res == nil {
			return nil, errors.Join(err, store.Close())
		}
		return res, store.Close()
	}
}

// Task implements [engine.Tasks]. Tasks answer as in the script.
func (p *aslPlay) Task(name string) (atom.Body, error) {
	if name == asl.ReadItems || name == asl.WriteObjects {
		return p.files.Task(name)
	}
	return &aslTask{p}, nil
}

type aslTask struct{ *aslPlay }

func (*aslTask) Reverts() bool { return false }

func (*aslTask) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (a *aslTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	reply, err := a.reply(ctx, in.Input().JSON())
	if err != nil {
		return nil, err
	}
	switch {
	case reply.Never && reply.Submitted == nil:
		<-ctx.Done()
		return nil, ctx.Err()
	case reply.Submitted != nil:
		if !reply.Never {
			a.endLater(ctx, reply)
		}
		return atom.FromJSON(reply.Submitted), atom.ErrDeferred
	}
	if err := waitFor(ctx, time.Until(reply.at)); err != nil {
		return nil, err
	}
	return reply.end()
}

// reply returns the answer to a call. A repeated call gets the same answer.
func (a *aslTask) reply(ctx context.Context, input json.RawMessage) (*aslReply, error) {
	call := atom.CurrentCall(ctx)
	key := fmt.Sprint(atom.IdempotencyKey(ctx), " ", call.Attempt)
	state, _, _ := strings.Cut(call.Path[strings.LastIndexByte(call.Path, '/')+1:], "#")
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.begun[key]; known != nil {
		return known, nil
	}
	reply, ok := a.script.Take(state, input)
	if !ok {
		return nil, atom.Errorf("NoAnswer", "the case has no answer for a call of %s with %s", state, input)
	}
	a.begun[key] = &aslReply{reply, time.Now().Add(time.Duration(reply.After) * time.Second)}
	return a.begun[key], nil
}

func (r *aslReply) end() (atom.Value, error) {
	if r.Error != nil {
		return nil, &atom.Failure{Code: *r.Error, Message: r.Cause}
	}
	return atom.FromJSON(r.Output), nil
}

// endLater ends the token of a call when its answer comes. A repeated call ends the token again, which has no effect.
// If the process that drives the run uses the same store, it hears of the end at once.
func (a *aslTask) endLater(ctx context.Context, reply *aslReply) {
	token := atom.Token(ctx)
	go func() { //nolint:contextcheck // the party that ends it survives the call
		time.Sleep(time.Until(reply.at))
		result, err := reply.end()
		failure, _ := errors.AsType[*atom.Failure](err)
		if _, err := a.inside.Load().EndToken(context.Background(), token, storage.TokenEnd{Result: result, Failure: failure}); err != nil { // it has died
			_, _ = a.outside.EndToken(context.Background(), token, storage.TokenEnd{Result: result, Failure: failure})
		}
	}()
}
