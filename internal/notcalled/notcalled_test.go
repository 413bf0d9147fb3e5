package notcalled_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/internal/notcalled"
)

// TestIs tells arguments that could not be read from the errors of a task, which may come from another task that it
// called.
func TestIs(t *testing.T) {
	t.Parallel()
	bad := errors.New("want a number")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                               {nil, false},
		"an error of the task":                   {notcalled.ByTask(bad), false},
		"arguments":                              {notcalled.Error(bad), true},
		"arguments, wrapped":                     {fmt.Errorf("pay: %w", notcalled.Error(bad)), true},
		"arguments of a task that a task called": {fmt.Errorf("pay: %w", notcalled.ByTask(notcalled.Error(bad))), false},
	} {
		if got := notcalled.Is(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if c.err != nil && !errors.Is(c.err, bad) {
			t.Errorf("%s: the error is lost", name)
		}
	}
}
