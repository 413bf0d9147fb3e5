package command

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// TestDryRunMarksPivot: ebb revert --dry-run says at which point of no return an undo stops, also if it undoes nothing.
func TestDryRunMarksPivot(t *testing.T) {
	t.Parallel()
	const stop = "ship  is a point of no return: neither it nor what came before it is undone\n"
	for want, steps := range map[string][]engine.PreviewStep{
		"mail\n" + stop:                    {{Path: "mail", Status: "REVERTED"}, {Path: "ship", Status: "SUCCESS", Stops: true}},
		"nothing would be undone\n" + stop: {{Path: "ship", Status: "SUCCESS", Stops: true}},
		"call  stays done (no Revert)\n":   {{Path: "call", Status: storage.StatusStaysDone}},
		"nothing would be undone\n":        nil,
	} {
		var out bytes.Buffer
		s := subcommands{session.New(nil, &out, &out)}
		all := func(yield func(engine.PreviewStep, error) bool) {
			for step := range slices.Values(steps) {
				if !yield(step, nil) {
					return
				}
			}
		}
		if err := s.showUndo("r", all, func(err error) error { return err }); err != nil || out.String() != want {
			t.Errorf("%q, %v; want %q", out.String(), err, want)
		}
	}
}
