package driver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

// newRuns checks the runs that a run wants to create.
type newRuns struct {
	*run

	root string // id of the topmost ancestor of the new runs; "" if it has none
}

// prepare returns the run that a child describes, or why it cannot be created. The caller sets its parent.
func (r newRuns) prepare(id string, child *flow.Child, input atom.Value) (storage.Run, *atom.Failure, error) {
	if child.Input != nil {
		input = child.Input
	}
	run := storage.Run{
		ID: id, Key: child.Key, Flow: child.Flow, Definition: child.Definition, Structure: child.Structure,
		Labels: child.Labels, Attrs: child.Attributes, Trace: r.trace, Input: storage.Held{Data: input}, Created: r.next.Now,
		Due: r.next.Now, Root: r.root,
	}
	switch err := r.env.Runs.Prepare(r.storing, &run); {
	case errors.Is(err, storage.ErrNotFound):
		return run, &atom.Failure{Code: atom.CodeNoFlow, Message: err.Error()}, nil
	case err != nil:
		return run, nil, WrapStore(r.claim.Run, err)
	}
	if err := run.Check(); err != nil {
		failure := &atom.Failure{Code: atom.CodeNoStart, Message: err.Error()}
		return run, failure, nil
	}
	return run, nil, nil
}

// keyTaken returns a failure if an open run has the key, or a run of the pending checkpoint.
func (r newRuns) keyTaken(key string) (*atom.Failure, error) {
	for i := range r.next.Children {
		if r.next.Children[i].Key == key {
			return keyFailure(&storage.KeyTakenError{Key: key, Run: r.next.Children[i].ID}), nil
		}
	}
	holder, err := r.env.Store.OpenRun(r.storing, key)
	switch {
	case err == nil:
		return keyFailure(&storage.KeyTakenError{Key: key, Run: holder}), nil
	case r.about.Key == key: // this run, which is not stored yet
		return keyFailure(&storage.KeyTakenError{Key: key, Run: r.claim.Run}), nil
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil //nolint:nilnil // the key is free
	default:
		return nil, WrapStore(r.claim.Run, err)
	}
}

func keyFailure(taken *storage.KeyTakenError) *atom.Failure {
	return &atom.Failure{
		Code: atom.CodeKeyTaken, Message: fmt.Sprintf("the open run %q has the key %q", taken.Run, taken.Key),
	}
}

// refuseSuccessor returns why the run that an answer names cannot continue this run.
func (r newRuns) refuseSuccessor(end *flow.End) (*atom.Failure, error) {
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
	case err == nil || id == r.claim.Run:
		return refuse(atom.CodeRunExists, fmt.Sprintf("run %q exists already", id))
	case !errors.Is(err, storage.ErrNotFound):
		return nil, WrapStore(r.claim.Run, err)
	}
	_, failed, err := r.prepare(id, child, nil)
	return failed, err
}

// successorID returns the id of the run that continues this run: the id of the first run, and a number.
func (r newRuns) successorID(child *flow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	base, n := r.claim.Run, 1
	if at := strings.LastIndexByte(base, '~'); at > 0 && r.about.Continues != "" {
		if had, err := strconv.Atoi(base[at+1:]); err == nil && had > 0 {
			base, n = base[:at], had
		}
	}
	return nodepath.RunID(base + "~" + strconv.Itoa(n+1))
}
