package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// playMachine plays a case in virtual time. It sets a death that happens to none.
func playMachine(t *testing.T, c *conformance.MachineCase, where place, d *death) (end *conformance.MachineEnd) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { end = playMachineNow(t, c, where, d) })
	return end
}

// playMachineNow plays a case in the current time.
func playMachineNow(t *testing.T, c *conformance.MachineCase, where place, d *death) *conformance.MachineEnd {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &machinePlay{
		c: c, where: where, death: d, replies: c.Replies(), begun: map[string]*machineReply{},
		end: &conformance.MachineEnd{Sent: []conformance.SentEvent{}, Trace: []string{}, Calls: map[string][]json.RawMessage{}},
	}
	if err := p.play(ctx); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	return p.end
}

// A machinePlay plays one case.
type machinePlay struct {
	c       *conformance.MachineCase
	where   place
	death   *death
	flows   machineFlows
	names   map[string]string      // of functions, by their tasks
	outside backend.Store          // of parties outside of the process
	inside  atomic.Pointer[mortal] // of the current process
	end     *conformance.MachineEnd
	beside  func(run string) // drives a run for which no other waits

	mu      sync.Mutex
	replies *conformance.Replies
	begun   map[string]*machineReply // by the key of the call
}

// A machineReply is the reply to a call that a process started, perhaps one that has died.
type machineReply struct {
	*conformance.Reply

	at time.Time // when the reply comes
}

const (
	playedRun  = "run"
	playedFlow = "(root)"
	aLongTime  = 20 * 365 * 24 * time.Hour
)

// machineFlows are the flows of a case by their names. They form a catalog.
type machineFlows map[string]*sm4c.Machine

func (f machineFlows) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	if m := f[run.Flow]; m != nil {
		return m.Flow(), nil
	}
	return nil, fmt.Errorf("%w: there is no flow %q", storage.ErrNotFound, run.Flow)
}

func (p *machinePlay) play(ctx context.Context) error {
	if err := p.parse(); err != nil {
		p.fail("SM4C.Definition", err.Error())
		return nil // as the case expects, or not
	}
	var err error
	if p.outside, err = p.where.open(ctx); err != nil {
		return err
	}
	first, err := p.engine(p.outside)
	if err != nil {
		return err
	}
	var opts []engine.RunOption
	if p.c.Input != nil {
		opts = append(opts, engine.Input(atom.FromJSON(p.c.Input)))
	}
	if err := first.Start(ctx, playedRun, opts...); err != nil {
		return err
	}
	began := time.Now()
	var events sync.WaitGroup
	defer events.Wait()
	for i, e := range p.c.Events {
		if e.AtStart {
			if err := p.tell(ctx, fmt.Sprint("event ", i), e.Event); err != nil {
				return err
			}
			continue
		}
		events.Go(func() { // at the same moment, messages come before timers
			time.Sleep(time.Duration(e.AfterMS)*time.Millisecond - 1)
			_ = p.tell(ctx, fmt.Sprint("event ", i), e.Event)
		})
	}
	if err := p.live(ctx); err != nil {
		return err
	}
	if err := p.collect(ctx, began); err != nil {
		return err
	}
	return p.outside.Close()
}

// live lets one process after the other drive the runs, until all have ended or wait in vain.
func (p *machinePlay) live(ctx context.Context) error {
	for processes := 1; ; processes++ {
		store, err := p.where.open(ctx)
		if err != nil {
			return err
		}
		lifetime, die := context.WithTimeout(ctx, aLongTime)
		d := once(p.death, store, die)
		p.inside.Store(d)
		eng, err := p.engine(d)
		if err != nil {
			die()
			return err
		}
		err = p.drive(lifetime, eng)
		die()
		if d.dead() {
			if err := p.where.died(store); err != nil {
				return err
			}
			continue
		}
		return errors.Join(err, store.Close())
	}
}

// drive drives the run, and beside it the runs that it starts and does not wait for.
func (p *machinePlay) drive(ctx context.Context, eng *engine.Engine) error {
	var group errgroup.Group
	p.beside = func(run string) {
		group.Go(func() error {
			res, err := eng.Run(ctx, run)
			if res != nil || errors.Is(err, engine.ErrStopped) || errors.Is(err, errDied) {
				return nil
			}
			return err
		})
	}
	p.beside(playedRun)
	for { // after all others, look for detached runs that the observer missed, so that two never drive one
		if err := group.Wait(); err != nil {
			return err
		}
		left, err := detached(ctx, eng, playedRun)
		if err != nil {
			return nil //nolint:nilerr // the process has died, or waited long enough
		}
		if len(left) == 0 {
			return nil
		}
		for _, run := range left {
			p.beside(run)
		}
	}
}

func (p *machinePlay) engine(s backend.Store) (*engine.Engine, error) {
	return engine.New(p.flows[playedFlow].Flow(), s, engine.WithTasks(p), engine.WithCatalog(p.flows),
		engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.RunDetached {
				p.beside(ev.Name)
			}
		}))
}

func (p *machinePlay) parse() error {
	p.flows, p.names = machineFlows{}, map[string]string{}
	opts := []sm4c.Option{sm4c.Load(func(uri string) ([]byte, error) {
		if doc, ok := p.c.Resources[uri]; ok {
			return doc, nil
		}
		return nil, errors.New("there is no such document")
	})}
	if p.c.Options.WaitDefault {
		opts = append(opts, sm4c.WaitDefault())
	}
	texts := map[string]json.RawMessage{playedFlow: p.c.Definition}
	maps.Copy(texts, p.c.Subflows)
	for name, text := range texts {
		m, err := sm4c.Parse(name, text, opts...)
		if err != nil {
			return err
		}
		p.flows[name] = m
		for _, f := range m.Functions() {
			p.names[f.Task] = f.Name
		}
	}
	return nil
}

func (p *machinePlay) fail(code, message string) {
	p.end.Status = "failed"
	p.end.Error = &struct {
		Code    string
		Message *string
	}{code, &message}
}

// tell sends an event to the run, once for each key. If its store is that of the process that drives the run, the
// process hears of the event at once, otherwise perhaps later.
func (p *machinePlay) tell(ctx context.Context, key string, event json.RawMessage) error {
	l := storage.Message{Run: playedRun, Kind: grow.MessageEvent, Key: key, Body: atom.FromJSON(event), Sent: time.Now()}
	if s := p.inside.Load(); s != nil && s.Send(ctx, l) == nil {
		return nil
	}
	return p.outside.Send(ctx, l)
}

// collect reads the end of the run from the store.
func (p *machinePlay) collect(ctx context.Context, began time.Time) error {
	s, end := p.outside, p.end
	run, err := s.Run(ctx, playedRun)
	if err != nil {
		return err
	}
	entries, err := s.History(ctx, playedRun, 0, 0)
	if err != nil {
		return err
	}
	for i := range entries {
		if entries[i].Kind == storage.EntryEvent && entries[i].Type == "StateEntered" {
			end.Trace = append(end.Trace, entries[i].Path)
		}
	}
	end.Calls = p.replies.Calls()
	if end.Sent, err = sentBy(ctx, s); err != nil {
		return err
	}
	elapsed := run.Ended.Sub(began).Round(time.Millisecond).Milliseconds()
	switch {
	case !run.State.Ended():
		end.Status = "waiting"
		waits, err := p.flows[playedFlow].Why(run.Memory)
		if err != nil {
			return err
		}
		end.State, end.Data = waits.State, waits.Data
		return nil
	case run.Outcome == storage.TimedOut:
		end.Status = "timed_out"
	case run.State == states.FlowSuccess:
		end.Status, end.Output = "completed", run.Output.Data.JSON()
	default:
		p.fail(run.Failure.Code, run.Failure.Message)
	}
	end.Elapsed = &elapsed
	return nil
}

// sentBy empties the outbox.
func sentBy(ctx context.Context, s backend.Store) ([]conformance.SentEvent, error) {
	var all []storage.Outgoing
	for {
		out, err := s.Outgoing(ctx, time.Now(), 0)
		if err != nil {
			return nil, err
		}
		if len(out) == 0 {
			break
		}
		for i := range out {
			all = append(all, out[i])
			if err := s.Sent(ctx, out[i].N); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(all, func(a, b storage.Outgoing) int { return int(a.N - b.N) })
	sent := []conformance.SentEvent{}
	for i := range all {
		e, err := conformance.SentEventOf(all[i].Body.JSON())
		if err != nil {
			return nil, err
		}
		sent = append(sent, e)
	}
	return sent, nil
}
