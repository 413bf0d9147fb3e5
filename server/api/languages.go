package api

import (
	"context"
	"net/http"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Languages are the languages of definitions that a program knows.
type Languages interface {
	// Check reads a definition. It opens no file and sends no request, whatever the definition names.
	Check(d *Draft) *CheckResult
	// Picture returns the diagram of a stored definition.
	Picture(d *storage.Definition) (draw.View, error)
	// PictureOf returns the diagram of the definition of a run, with what became of it. If the run has no definition, or
	// an unknown one, the error wraps [storage.ErrNotFound].
	PictureOf(ctx context.Context, run *storage.Run) (draw.View, error)
	// Unheard returns why nothing would come of a signal to a run of a definition; "" if something may.
	Unheard(ctx context.Context, run *storage.Run, signal string) string
	// Try runs a definition in memory and in virtual time. It calls nothing: mocks answer in place of all tasks. It
	// returns a store with the definition and the run. The error says why the definition cannot be tried, or that the
	// run did not rest in time.
	Try(ctx context.Context, t *TrialRequest) (store backend.Store, run string, err error)
}

// A Draft is the text of a definition that may not be stored yet.
type Draft struct {
	Name    string // of the flow; may be "" where nothing is stored
	Text    string // JSON or YAML
	Strict  bool   // refuse Ebb's additions to the language
	Express bool   // the machine is of type EXPRESS
}

// A CheckResult is what was found in the text of a definition, without running it.
type CheckResult struct {
	Problems flow.Diagnostics // all problems, as ebb validate reports them
	// Refused are the places of what a definition from the network must not name, because the operator does not name it.
	Refused  flow.Diagnostics
	Runnable bool               // the definition can run; the rest is only set then
	Stored   storage.Definition // the definition as it is stored
	Picture  draw.View
	Calls    []string // names of the states and actions that call a task, for mocks
}

// A TrialRequest asks to run a definition in memory, with mocks in place of its tasks.
type TrialRequest struct {
	Draft

	Input atom.Value // of the run; nil is {}
	// Mocks are a mock file of Step Functions Local, or an object with a mock for each state; nil is none.
	Mocks atom.Value
	Case  string // test case of a mock file; "" if it has one
}

// problemNoLanguages says that the program has no languages.
func problemNoLanguages() error {
	return problem(http.StatusNotImplemented, "no_languages", "this server knows no languages: ask ebb serve")
}
