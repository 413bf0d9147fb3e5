package jsonata_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/jsonata"
)

// TestInterrupted interrupts evaluations that would take all steps, and checks that they stop within a few slices. If
// the callback never interrupts, they take as many steps as without one.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`($f := function($n) { $n = 0 ? 0 : $f($n - 1) }; $f(10000000))`,
		`$sum([1..300000].($ * 2)) + $sum([1..300000].($ * 2)) + $sum([1..300000].($ * 2)) + $sum([1..300000].($ * 2))`,
		`$sort([1..100000], function($a, $b) { $a < $b })`,
	} {
		e, err := jsonata.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		whole := jsonata.MaxSteps
		_, plain := e.Evaluate(&jsonata.Environment{Steps: &whole})
		asked, left := 0, jsonata.MaxSteps
		_, err = e.Evaluate(&jsonata.Environment{Steps: &left, Interrupted: func() bool { asked++; return false }})
		if left != whole || (err == nil) != (plain == nil) || err != nil && err.Error() != plain.Error() || asked < 20 {
			t.Errorf("%s: %d steps left and %v, asked %d times; %d and %v when it is not asked", text, left, err, asked, whole,
				plain)
		}
		asked, left = 0, jsonata.MaxSteps
		_, err = e.Evaluate(&jsonata.Environment{Steps: &left, Interrupted: func() bool { asked++; return asked == 3 }})
		if err == nil || asked != 3 {
			t.Errorf("%s: goes on after %d questions: %v", text, asked, err)
		}
	}
}
