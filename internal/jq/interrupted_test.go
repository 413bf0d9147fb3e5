package jq_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/jq"
)

// TestInterrupted interrupts evaluations that take many steps.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`last(range(1000000))`,
		`def f: f; f`,
		`reduce range(100000) as $i (0; . + $i)`,
		`[range(30000)] | map([range(10)]) | sort | length`,
	} {
		p, err := jq.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		plain, wrong := p.Run(nil)
		asked := 0
		same, err := p.RunUntil(func() bool { asked++; return false }, nil)
		if same != plain || (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() || asked < 5 {
			t.Errorf("%s: %v and %v, asked %d times; %v and %v when it is not asked", text, same, err, asked, plain, wrong)
		}
		asked = 0
		if _, err = p.RunUntil(func() bool { asked++; return asked == 3 }, nil); err == nil || asked != 3 {
			t.Errorf("%s: goes on after %d questions: %v", text, asked, err)
		}
	}
}
