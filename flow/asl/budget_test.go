package asl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/grow"
)

// TestBudget shows that a long walk is divided into several answers.
//
// Guarantee (G9): long walks through computing states: several answers with small notes; 300 such states cost no commit
// of their own.
// Also: `TestLongChain`, `engine: TestInstantStates`.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := simulate(t, parse(t, counter), `{"left": [`+strings.Repeat("0,", 999)+`0], "keep": 1}`, nil)
	if got, want := ending(s), `SUCCEEDED {"left":[],"keep":1}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.asked < 4 || s.asked > 10 {
		t.Errorf("%d questions for 2,000 states", s.asked)
	}
}

// counter pops a list until it is empty.
const counter = `{"StartAt": "More?", "States": {
	"More?": {"Type": "Choice", "Choices": [{"Variable": "$.left[0]", "IsPresent": true, "Next": "Pop"}], "Default": "Done"},
	"Pop": {"Type": "Pass", "InputPath": "$.left[1:]", "ResultPath": "$.left", "Next": "More?"},
	"Done": {"Type": "Succeed"}}}`

// TestLongChain: the memory of a machine without loops does not grow.
func TestLongChain(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"StartAt": "S0", "States": {`)
	for i := range 100 {
		fmt.Fprintf(&text, `"S%d": {"Type": "Task", "Resource": "exec:x", "Next": "S%d"}, `, i, i+1)
	}
	text.WriteString(`"S100": {"Type": "Task", "Resource": "exec:x", "Retry": [{"ErrorEquals": ["Boom"]}], "End": true}}}`)
	noting := &noting{Language: parse(t, text.String())}
	simulate(t, noting, `{}`, nil)
	if noting.most > 100 {
		t.Errorf("a note of %d bytes", noting.most)
	}
}

// noting keeps the size of the largest levelState.
type noting struct {
	grow.Language
	most int
}

func (n *noting) Grow(ask *grow.Ask) grow.Growth {
	g := n.Language.Grow(ask)
	for i := range g.Add {
		n.most = max(n.most, len(g.Add[i].Note))
	}
	return g
}
