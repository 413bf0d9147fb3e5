package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// lang is a language that consists of one function.
type lang func(ask *grow.Ask) grow.Growth

func (l lang) Grow(ask *grow.Ask) grow.Growth { return l(ask) }

func (lang) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

func done(v any) grow.Growth { return grow.Growth{End: &grow.End{Value: atom.MustEncode(v)}} }

func failure(f *atom.Failure) grow.Growth { return grow.Growth{End: &grow.End{Failure: f}} }

func add(specs ...grow.Spec) grow.Growth { return grow.Growth{Add: specs} }

func work(name string) grow.Spec {
	return grow.Spec{Name: name, Task: "do:" + name, Undo: &grow.Undo{Task: "undo:" + name}}
}

// TestTold: a language hears everything that the run is told, in order and never twice, whatever the language does
// meanwhile.
func TestTold(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": func(context.Context, int) error { time.Sleep(time.Minute); return nil }}}
		hears := lang(func(ask *grow.Ask) grow.Growth {
			var heard []string
			if ask.Memory != nil {
				_ = ask.Memory.Decode(&heard)
			}
			switch ask.Cause.Kind {
			case grow.Begin:
				return add(work("a"), grow.Spec{Name: "until", Kind: grow.Timer, Due: ask.Now.Add(24 * time.Hour)})
			case grow.Told:
				var body string
				_ = ask.Cause.Result.Decode(&body)
				heard = append(heard, string(ask.Cause.Message)+" "+ask.Cause.Name+" "+body)
				if ask.Cause.Name == "over" {
					return done(heard)
				}
				return grow.Growth{Memory: atom.MustEncode(heard)}
			default:
				return grow.Growth{}
			}
		})
		eng := newEngine(t, flow.Growing("f", hears), append(opts, engine.WithTasks(parts{s}))...)
		send := func(name, key string) {
			l := storage.Message{Run: "r", Kind: "event", Name: name, Key: key, Body: atom.MustEncode("x")}
			if err := eng.Store().Send(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
		if err := eng.Start(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		send("early", "")
		go func() {
			time.Sleep(time.Second)
			send("one", "k1")
			send("one", "k1")
			time.Sleep(time.Hour)
			send("two", "")
			send("over", "")
		}()
		for {
			res, err := eng.Run(t.Context(), "r", engine.Unload())
			if errors.Is(err, engine.ErrWaiting) {
				time.Sleep(10 * time.Minute)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Output().String(); got != `["event early x","event one x","event two x","event over x"]` {
				t.Errorf("heard %s", got)
			}
			break
		}
		if acts := s.took(); len(acts) != 1 {
			t.Errorf("acts %v", acts)
		}
	})
}

// TestGrowingTokens ends nodes of a language by their tokens: one that calls a task first, and one without a task.
func TestGrowingTokens(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		tokens := &box[string]{}
		both := lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; {
			case c.Kind == grow.Begin:
				a := work("a")
				a.Token = ask.Token()
				tokens.put(a.Token)
				return add(a)
			case c.Kind == grow.Ended && c.Name == "a":
				b := grow.Spec{Name: "b", Token: ask.Token(), Heartbeat: time.Minute, Undo: &grow.Undo{Task: "undo:b"}}
				tokens.put(b.Token)
				return add(b)
			case c.Kind == grow.Failed:
				return failure(c.Failure)
			default:
				return done(c.Result)
			}
		})
		s := &stage{}
		eng := newEngine(t, flow.Growing("f", both), append(opts, engine.WithTasks(parts{s}))...)
		end := func(n int, what any) {
			t.Helper()
			if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
				t.Fatal(err)
			}
			if _, err := eng.Store().EndToken(t.Context(), tokens.at(n), storage.TokenEnd{Result: atom.MustEncode(what)}); err != nil {
				t.Fatal(err)
			}
		}
		end(0, "x")
		end(1, "y")
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `"y"` {
			t.Errorf("ended with %v, %v", res, err)
		}
		_, err = eng.Command(t.Context(), "r", engine.Cancel(""))
		reverted(t, err)
		wantActs(t, s, "a", "undo b done", "undo a done")

		tokens = &box[string]{}
		go func() {
			time.Sleep(time.Hour)
			if _, err := eng.Store().EndToken(t.Context(), tokens.at(0), storage.TokenEnd{Result: atom.Null}); err != nil {
				t.Error(err)
			}
		}()
		_, err = eng.Run(t.Context(), "silent")
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeHeartbeatLost {
			t.Errorf("it failed with %v", e.Failures[0])
		}
		wantActs(t, s, "a", "undo b", "undo a done")
	})
}

// TestWorkers lets workers find the work of a language in a queue.
func TestWorkers(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		queued := lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; c.Kind {
			case grow.Begin:
				return add(grow.Spec{Name: "a", Token: ask.Token(), Queue: "q", Input: atom.MustEncode("in"), Heartbeat: time.Hour})
			case grow.Taken:
				return grow.Growth{Memory: c.Result}
			case grow.Ended:
				return done([]atom.Value{ask.Memory, c.Result})
			default:
				return failure(c.Failure)
			}
		})
		eng := newEngine(t, flow.Growing("f", queued), opts...)
		store := eng.Store()
		go func() {
			time.Sleep(time.Minute)
			tok, err := store.TakeToken(t.Context(), storage.WorkRequest{Queues: []string{"q"}, Worker: "worker 7"})
			if err != nil {
				t.Error(err)
				return
			}
			a, err := store.Atom(t.Context(), tok.Run, tok.Path)
			if err != nil || a.Input.Data.String() != `"in"` {
				t.Errorf("the work is %s: %v", a.Input.Data, err)
			}
			time.Sleep(time.Minute)
			if _, err := store.EndToken(t.Context(), tok.ID, storage.TokenEnd{Result: atom.MustEncode("out")}); err != nil {
				t.Error(err)
			}
		}()
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `["worker 7","out"]` {
			t.Errorf("ended with %s, %v", res.Output(), err)
		}
	})
}

// TestJoins determines how a group of children ends: by the number that must succeed, and the number that may fail.
func TestJoins(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		group grow.Group
		fail  []int         // children that fail
		want  string        // results, or the code of the failure
		took  time.Duration // child i takes i+1 minutes
	}{
		{"all", grow.Group{Count: 3}, nil, `[0,1,2]`, 3 * time.Minute},
		{"one fails", grow.Group{Count: 3}, []int{1}, "Refused", 2 * time.Minute},
		{"one may fail", grow.Group{Count: 3, Tolerate: 1}, []int{1}, `[0,null,2]`, 3 * time.Minute},
		{"two fail", grow.Group{Count: 4, Tolerate: 1}, []int{0, 2}, "Refused", 3 * time.Minute},
		{"first", grow.Group{Count: 3, Need: 1}, nil, `[0,null,null]`, time.Minute},
		{"first that does not fail", grow.Group{Count: 3, Need: 1, Tolerate: 2}, []int{0}, `[null,1,null]`, 2 * time.Minute},
		{"two of three", grow.Group{Count: 3, Need: 2, Tolerate: 1}, []int{1}, `[0,null,2]`, 3 * time.Minute},
		{"two cannot", grow.Group{Count: 3, Need: 2, Tolerate: 3}, []int{0, 1}, "Refused", 2 * time.Minute},
		{"abandoned", grow.Group{Count: 2, Need: 1, Abandon: true}, nil, `[0,null]`, time.Minute},
		{"in turn", grow.Group{Count: 3, Slots: 1, Need: 2}, nil, `[0,1,null]`, 3 * time.Minute},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				joins := joining(c.group, c.fail)
				begun := time.Now()
				res, err := newEngine(t, flow.Growing("f", joins), opts...).Run(t.Context(), "r")
				got := res.Output().String()
				if err != nil {
					got = failed(t, err).Failures[0].Code
				}
				if got != c.want {
					t.Errorf("got %s; want %s", got, c.want)
				}
				if took := time.Since(begun); took != c.took {
					t.Errorf("it took %v; want %v", took, c.took)
				}
			})
		})
	}
}

// joining is a language whose flow is one group. Child i takes i+1 minutes, and fails if it is among those that must.
func joining(group grow.Group, fail []int) lang {
	return func(ask *grow.Ask) grow.Growth {
		switch cause := &ask.Cause; {
		case ask.Index < 0 && cause.Kind == grow.Begin:
			return add(grow.Spec{Name: "g", Kind: grow.Fork, Group: &group})
		case ask.Index < 0 && cause.Kind == grow.Joined:
			return done(cause.Results)
		case ask.Index < 0:
			return failure(cause.Failure)
		case cause.Kind == grow.Begin:
			return add(grow.Spec{Name: "w", Kind: grow.Timer, Due: ask.Now.Add(time.Duration(ask.Index+1) * time.Minute)})
		case slices.Contains(fail, ask.Index):
			return failure(&atom.Failure{Code: "Refused"})
		default:
			return done(ask.Index)
		}
	}
}

// TestMessages sends messages to other runs, and leaves the others to the outbox.
func TestMessages(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		talks := lang(func(ask *grow.Ask) grow.Growth {
			switch ask.Cause.Kind {
			case grow.Begin:
				if ask.Run.ID == "hears" {
					return add(grow.Spec{Name: "until", Kind: grow.Timer, Due: ask.Now.Add(time.Hour)})
				}
				g := done(nil)
				g.Send = []grow.Message{{To: "hears", Kind: "event", Name: "hello", Body: atom.MustEncode(ask.Run.ID)}, {To: "nobody", Kind: "event"}}
				g.Out = []grow.Message{{To: "https://example.org", Body: atom.MustEncode(1)}, {To: "https://example.org", Key: "own", Body: atom.MustEncode(2)}}
				return g
			case grow.Told:
				return done(ask.Cause.Name + " " + fmt.Sprint(ask.Cause.Result))
			default:
				return done("nothing")
			}
		})
		eng := newEngine(t, flow.Growing("f", talks), opts...)
		go func() {
			time.Sleep(time.Minute)
			if _, err := eng.Run(t.Context(), "talks"); err != nil {
				t.Error(err)
			}
		}()
		res, err := eng.Run(t.Context(), "hears")
		if err != nil || res.Output().String() != `"hello \"talks\""` {
			t.Errorf("ended with %s, %v", res.Output(), err)
		}
		out, err := eng.Store().Outgoing(t.Context(), time.Now(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var bodies []string
		for _, o := range out {
			bodies = append(bodies, o.Body.String())
		}
		if diff := cmp.Diff([]string{"1"}, bodies); diff != "" { // only the first of each target
			t.Errorf("outbox (-want +got):\n%s", diff)
		}
	})
}

// TestAlteredLanguage resumes a run whose language has changed meanwhile. Former answers stay. The new language gets
// only new questions (G7).
//
// Guarantee (G7): If a language's code changes, recorded answers stay, and recorded work is undone as recorded, not
// repeated.
// Also: `TestAlteredGrower`.
func TestAlteredLanguage(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		version := func(v string) lang {
			return func(ask *grow.Ask) grow.Growth {
				switch c := &ask.Cause; {
				case c.Kind == grow.Begin:
					g := add(work("a"+v), grow.Spec{Name: "until" + v, Kind: grow.Timer, Due: ask.Now.Add(time.Hour), Note: atom.MustEncode(v)})
					g.Memory = atom.MustEncode("begun by " + v)
					return g
				case strings.HasPrefix(c.Name, "until"):
					return done(fmt.Sprint(ask.Memory, " noted by ", c.Note, " ended by ", v))
				default:
					return grow.Growth{}
				}
			}
		}
		s := &stage{}
		opts = append(opts, engine.WithTasks(parts{s}))
		first := newEngine(t, flow.Growing("f", version("1")), opts...)
		if _, err := first.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		second := newEngine(t, flow.Growing("f", version("2")), append(opts, engine.WithStore(first.Store()))...)
		res, err := second.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `"\"begun by 1\" noted by \"1\" ended by 2"` {
			t.Errorf("ended with %s, %v", res.Output(), err)
		}
		wantActs(t, s, "a1")
	})
}
