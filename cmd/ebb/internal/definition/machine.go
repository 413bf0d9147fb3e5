package definition

import (
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
)

// A Machine is a compiled definition, in any of the languages that the command
// runs.
type Machine interface {
	flow.Language
	// Stored returns the definition as it is stored: the name of the language, and
	// a text that needs nothing else.
	Stored() (language string, text []byte)
	// Problems returns what looks wrong though it can be run, with places in the
	// text that was compiled.
	Problems() flow.Diagnostics
	// Uses returns the tasks that it calls.
	Uses() []TaskUse
	// Subflows returns the names of the flows that it runs.
	Subflows() []string
	// Unheard returns why nothing could come of a signal of that name; "" when
	// something may.
	Unheard(signal string) string
	// Picture returns the machine as a view.
	Picture(title string) draw.View
	// Became returns what became of each node of the picture, by a run's
	// history. It ends with the first error of that.
	Became(history iter.Seq2[storage.Entry, error]) (map[string]string, error)
	// Waits returns what a run waits for beside its atoms; nil when that is all.
	Waits(run *storage.Run) *flow.Waiting
}

// A TaskUse is where a definition names a task.
type TaskUse struct {
	Task  string
	Where string // begins messages: state "Pay"
	State string // by which mocks know the caller
	At    int    // where the name stands in the text; -1 when it is elsewhere
}

// A Reading is how definitions are read.
type Reading struct {
	Profile asl.Profile // of the States Language
	Strict  bool
	Express bool    // they are of type EXPRESS
	Loader  *Loader // of documents that they name
}

// The names of the languages, as stored definitions have them.
const (
	ASL  = "asl" // behind it stands the profile, if it is not the default: asl/spec2016
	SM4C = "sm4c"
)

// ParseStored compiles a definition from the store.
func ParseStored(def *storage.Definition) (Machine, error) {
	if def.Language == SM4C {
		m, err := sm4c.Parse(def.Name, def.Text)
		return &sm4cMachine{m}, err
	}
	profile, known := profileOf(def.Language)
	if !known {
		return nil, fmt.Errorf("it is in %s, which this version of Ebb does not know", def.Language)
	}
	m, err := asl.Parse(def.Name, def.Text, asl.Under(profile))
	return &aslMachine{m, profile, def.Text}, err
}
