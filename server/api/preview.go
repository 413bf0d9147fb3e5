package api

import (
	"net/http"

	"github.com/ebbflow/ebb/engine"
)

// maxPreview is the maximum number of atoms of a preview.
const maxPreview = 1000

// A Preview lists what a command would undo, in the order of undoing.
type Preview struct {
	Undo     []PreviewStep `json:"undo"`
	NoReturn []string      `json:"no_return"`     // paths of the points of no return at which the undo stops
	More     bool          `json:"more,omitzero"` // there are more than the 1000 that are listed
}

// A PreviewStep is an atom that would be undone.
type PreviewStep struct {
	Path   string `json:"path"`
	Status string `json:"status"` // REVERTED, or STAYS_DONE or MAY_STAY_DONE because nothing reverts it
}

// preview serves what a command to a run would undo.
func (a *api) preview(c *call) (any, error) {
	run, err := c.run(a)
	if err != nil {
		return nil, err
	}
	command, err := c.previewed()
	if err != nil {
		return nil, err
	}
	if a.options.Flow == nil {
		return nil, problemNoPreview()
	}
	root, err := a.options.Flow(c.Context(), &run)
	if err != nil {
		return nil, problemNoPreview()
	}
	eng, err := engine.New(root, a.store)
	if err != nil {
		return nil, err
	}
	out := Preview{Undo: []PreviewStep{}, NoReturn: []string{}}
	for step, err := range eng.Preview(c.Context(), run.ID, command) {
		if err != nil {
			return nil, err
		}
		if out.More = len(out.Undo)+len(out.NoReturn) == maxPreview; out.More {
			break
		}
		if step.Stops {
			out.NoReturn = append(out.NoReturn, step.Path)
			continue
		}
		out.Undo = append(out.Undo, PreviewStep{step.Path, string(step.Status)})
	}
	return out, nil
}

// previewed returns the command that is to be previewed.
func (c *call) previewed() (engine.Command, error) {
	switch name := c.query.Get("command"); name {
	case "", "revert":
		return (&revertBody{To: c.query.Get("to")}).command(), nil
	case "cancel":
		return (&cancelBody{}).command(), nil
	case "retry":
		return (&retryBody{From: c.query.Get("from")}).command(), nil
	default:
		return engine.Command{}, problem(http.StatusBadRequest, "invalid",
			"command is %.50q: want revert, cancel or retry", name)
	}
}
