package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage/memstore"
)

// noticed reports that the language is asked.
type noticed struct {
	grow.Language

	began chan struct{}
}

func (n noticed) Grow(ask *grow.Ask) grow.Growth {
	select {
	case n.began <- struct{}{}:
	default:
	}
	return n.Language.Grow(ask)
}

// endless is a language whose answers only end if they are interrupted.
type endless struct{}

func (endless) Grow(ask *grow.Ask) grow.Growth {
	for !ask.Done() { //nolint:revive // must take all available time
	}
	panic("interrupted")
}
func (endless) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// slowLanguages returns languages with one answer that takes at least minutes.
func slowLanguages(t *testing.T) map[string]grow.Language {
	t.Helper()
	many := func(n int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(parts, ", ")
	}
	languages := map[string]grow.Language{"grower": endless{}}
	m, err := sm4c.Parse("jq", []byte(`{"name": "m", "version": "1", "states": [{"name": "A", "start": true,
		"transitions": [`+many(300, `{"condition": "${ reduce range(300000) as $i (0; . + 1) | . == %d }", "nextState": "B"}`)+`]}, {"name": "B"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	languages["jq"] = m.Flow().Language()
	return languages
}

// TestSlowAnswerIsInterrupted makes requests of runs whose language is in the middle of an answer that takes minutes.
//
// Attack (Runs that grow or compute without end): One answer that computes for minutes, in jq or a Go grower.
// Result: About every 1 ms, an evaluation checks whether to continue. An interruption is neither a failure nor
// recorded.
// Also: `internal/jsonata: TestInterrupted`, `internal/jq: TestInterrupted`, `flow/asl/teststate: TestInterrupted`.
func TestSlowAnswerIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, lang := range slowLanguages(t) {
		for _, how := range []string{"cancel", "suspend", "suspend engine", "stop", "drain"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := memstore.New()
				began := make(chan struct{}, 1)
				eng, err := engine.New(flow.Growing(name, noticed{lang, began}), s)
				if err != nil {
					t.Fatal(err)
				}
				requests[how](t, eng, s, began)
			})
		}
	}
}
