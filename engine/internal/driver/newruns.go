package driver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

// prepareRun returns the run that a child describes, or why it cannot be created. Parent and root are the ids of the
// run that starts it and of its topmost ancestor; "" if it has none, or if the caller sets them later.
func (r *run) prepareRun(
	id, parent, root string, child *grow.Child, input atom.Value,
) (storage.Run, *atom.Failure, error) {
	if child.Input != nil {
		input = child.Input
	}
	run := storage.Run{
		ID: id, Key: child.Key, Flow: child.Flow, Definition: child.Definition, Structure: child.Structure,
		Labels: child.Labels, Attrs: child.Attributes, Trace: r.trace, Input: storage.Held{Data: input},
		Created: r.Draft.Now, Due: r.Draft.Now, Parent: parent, Root: root,
	}
	switch err := r.env.Runs.Prepare(r.storing, &run); {
	case errors.Is(err, storage.ErrNotFound):
		return run, &atom.Failure{Code: atom.CodeNoFlow, Message: err.Error()}, nil
	case err != nil:
		return run, nil, r.Wrap(err)
	}
	if err := backend.CheckRun(&run); err != nil {
		failure := &atom.Failure{Code: atom.CodeNoStart, Message: err.Error()}
		return run, failure, nil
	}
	return run, nil, nil
}

// keyTaken returns a failure if an open run has the key, or a run of the pending checkpoint.
func (r *run) keyTaken(key string) (*atom.Failure, error) {
	for i := range r.Draft.Children {
		if r.Draft.Children[i].Key == key {
			return keyFailure(&storage.KeyTakenError{Key: key, Run: r.Draft.Children[i].ID}), nil
		}
	}
	holder, err := r.env.Store.OpenRun(r.storing, key)
	switch {
	case err == nil:
		return keyFailure(&storage.KeyTakenError{Key: key, Run: holder}), nil
	case r.about.Key == key: // this run, which is not stored yet
		return keyFailure(&storage.KeyTakenError{Key: key, Run: r.Claim.Run}), nil
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil //nolint:nilnil // the key is free
	default:
		return nil, r.Wrap(err)
	}
}

func keyFailure(taken *storage.KeyTakenError) *atom.Failure {
	return &atom.Failure{
		Code: atom.CodeKeyTaken, Message: fmt.Sprintf("the open run %q has the key %q", taken.Run, taken.Key),
	}
}

// refuseSuccessor returns why the run that an answer names cannot continue this run.
func (r *run) refuseSuccessor(end *grow.End) (*atom.Failure, error) {
	child := end.Successor
	refuse := func(code, why string) (*atom.Failure, error) {
		return &atom.Failure{Code: code, Message: "the run cannot be continued: " + why}, nil
	}
	switch {
	case end.Failure != nil:
		return refuse(atom.CodeLanguage, "its language also lets it fail")
	case child.Key != "" && child.Key != r.about.Key:
		return refuse(atom.CodeLanguage, fmt.Sprintf("its successor has another key, %q", child.Key))
	}
	id := r.successorID(child)
	_, err := r.env.Store.Run(r.storing, id)
	switch {
	case err == nil || id == r.Claim.Run:
		return refuse(atom.CodeRunExists, fmt.Sprintf("run %q exists already", id))
	case !errors.Is(err, storage.ErrNotFound):
		return nil, r.Wrap(err)
	}
	_, failed, err := r.prepareRun(id, "", "", child, nil)
	return failed, err
}

// successorID returns the id of the run that continues this run: the id of the first run, and a number.
func (r *run) successorID(child *grow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	base, n := r.Claim.Run, 1
	if at := strings.LastIndexByte(base, '~'); at > 0 && r.about.Continues != "" {
		if had, err := strconv.Atoi(base[at+1:]); err == nil && had > 0 {
			base, n = base[:at], had
		}
	}
	return nodepath.RunID(base + "~" + strconv.Itoa(n+1))
}
