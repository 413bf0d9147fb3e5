package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

type consent struct {
	By     string `json:"by"`
	Amount int8   `json:"amount,omitempty"`
}

// even is a type of which only its code knows what it decodes.
type even int

func (e *even) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*int)(e)); err != nil {
		return err
	}
	if *e%2 != 0 {
		return errors.New("it is odd")
	}
	return nil
}

// TestMisfitsAreRefused: a signal, or the result of a token, that is not of the type that its atom awaits is refused at
// the sender with an example of what fits. Nothing is stored, and the run keeps waiting. So is one that arrives before
// the atom starts, and one from a process without the flow's code.
//
// Guarantee (Waiting and time): A signal or a result that is not of the type that the flow's atom awaits is refused at the
// sender. Nothing is stored, and the run keeps waiting.
func TestMisfitsAreRefused(t *testing.T) { //nolint:tparallel // the stores are opened one by one
	t.Parallel()
	eachStore(t, func(t *testing.T, store backend.Store) {
		tokens, release := make(chan string, 1), make(chan struct{})
		root := flow.Linear("f",
			atom.Func("first", func(context.Context, struct{}) (struct{}, error) { <-release; return struct{}{}, nil }),
			atom.Awaits[consent]("wait", "approved", atom.Deferral{}),
			atom.Func("ask", func(ctx context.Context, _ struct{}) (map[string]uint8, error) {
				tokens <- atom.Token(ctx)
				return nil, atom.ErrDeferred
			}, atom.Deferrable(atom.Deferral{}), atom.As("votes")),
			atom.Func("use", func(_ context.Context, in struct {
				By    string           `json:"by"`
				Votes map[string]uint8 `json:"votes"`
			},
			) (string, error) {
				return fmt.Sprint(in.By, in.Votes), nil
			}, atom.As("used")),
		)
		e := newEngine(t, root, engine.WithStore(store))
		if err := e.Start(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		signal := func(data string) error {
			m := storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "approved", Key: data}
			if data != "" {
				m.Body = atom.FromJSON([]byte(data))
			}
			return store.Send(t.Context(), m)
		}
		refuse := func() {
			t.Helper()
			for _, data := range []string{"", "null", `"yes"`, `{}`, `{"By": "ann"}`, `{"by": 1}`, `{"by": "ann", "amount": 128}`, `[]`} {
				if err := signal(data); !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), `such as {"by": "…"}`) {
					t.Errorf("signal %s: %v", data, err)
				}
			}
			if _, left, err := backend.AllMessages(t.Context(), store, "r"); err != nil || len(left) > 0 {
				t.Errorf("stored: %v, %v", left, err)
			}
		}
		refuse()
		done := make(chan error, 1)
		var res *engine.Result
		go func() {
			var err error
			res, err = e.Run(t.Context(), "r")
			done <- err
		}()
		close(release)
		refuse()
		if err := signal(`{"by": "ann", "more": 1}`); err != nil {
			t.Error(err)
		}
		token := <-tokens
		for _, result := range []string{`{"ann": -1}`, `{"ann": 256}`, `[]`, `1`} {
			_, err := store.EndToken(t.Context(), token, storage.TokenEnd{Result: atom.FromJSON([]byte(result))})
			if !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), `run "r": no result of ask`) {
				t.Errorf("result %s: %v", result, err)
			}
		}
		if _, err := store.EndToken(t.Context(), token, storage.TokenEnd{Result: atom.MustEncode(map[string]int{"ann": 1})}); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if used, _ := res.Value("used"); used.String() != `"annmap[ann:1]"` {
			t.Errorf("used %s", used)
		}
		err := signal(`{"by": "bob"}`)
		if !errors.Is(err, storage.ErrEnded) || !errors.Is(err, engine.ErrEnded) || !strings.Contains(err.Error(), `run "r" is SUCCESS`) {
			t.Errorf("a signal to a run that has ended: %v", err)
		}
		if err := signal(`{"by": "ann", "more": 1}`); err != nil {
			t.Errorf("the signal that is sent again: %v", err)
		}
	})
}

// TestSignalsThatFit: a signal ends the first atom whose type it fits. One that fits none, of which only the code of the
// flow knows, stays in the inbox, and the run keeps waiting.
func TestSignalsThatFit(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		root := flow.Linear("f", atom.Awaits[even]("number", "go", atom.Deferral{}, atom.As("n")),
			atom.Awaits[string]("text", "go", atom.Deferral{}, atom.As("s")))
		e := newEngine(t, root, opts...)
		go func() {
			for _, v := range []any{"later", 3, 4} {
				synctest.Wait()
				m := storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode(v)}
				if err := e.Store().Send(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
		}()
		res, err := e.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		n, _ := res.Value("n")
		s, _ := res.Value("s")
		if n.String() != "4" || s.String() != `"later"` {
			t.Errorf("got %s, %s", n, s)
		}
	})
}
