package definition

import (
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
)

// A Machine is a compiled definition, in any language of the command.
type Machine interface {
	grow.Language
	Subject
	// Stored returns the stored form of the definition: the name of the language, and a self-contained text.
	Stored() (language string, text []byte)
	// Problems returns the warnings of a definition that can run, with positions in the compiled text.
	Problems() flow.Diagnostics
	// Uses returns the tasks that the machine calls.
	Uses() []TaskUse
	// Subflows returns the names of the flows that the machine runs.
	Subflows() []string
	// Unheard returns why the machine can never use a signal with that name; "" if it may.
	Unheard(signal string) string
	// Picture returns the diagram of the machine.
	Picture(title string) draw.View
	// Became returns the picture of the machine with the course of a run, by the run's history. If reading the history
	// fails, it returns the error.
	Became(picture draw.View, history iter.Seq2[storage.Entry, error]) (draw.View, error)
	// Outline returns the names of the states.
	Outline() []string
	// Handlers returns the errors that the retriers and the catchers of a state name.
	Handlers(state string) (retries, catches [][]string)
	// Tracer returns a tracer that follows a run through the states; nil if the run's atoms say everything.
	Tracer() grow.Tracer
	// Waits returns what a run waits for apart from its atoms; nil if there is nothing.
	Waits(run *storage.Run) *grow.Waiting
}

// A Subject provides what tests need to know about a machine.
type Subject interface {
	// Parts returns the parts that a run may go through, with places in the text that was compiled.
	Parts() []grow.Part
	// Watched returns the same machine with an observer, which is called with each part that a run goes through.
	Watched(observe func(grow.Part)) Machine
	// Undoes reports whether the machine has work that is undone if it fails.
	Undoes() bool
	// Errors returns the names of the errors that a state retries or catches, each once, without those that stand for
	// others and without timeouts.
	Errors(state string) []string
	// Names returns the names by which mocks may know the call of a task, the most specific one first.
	Names(path, task string) []string
}

// A TaskUse is a position where a definition names a task.
type TaskUse struct {
	Task    string
	Where   string   // prefix of messages: state "Pay"
	Callers []string // paths of the nodes that call it, see [tasks.Mocks.Covers]
	At      int      // offset of the name in the text; -1 if it is in another text
}

// A Reading sets how definitions are read.
type Reading struct {
	Profile asl.Profile // profile of the States Language
	Strict  bool
	Express bool    // the machines are of type EXPRESS
	Loader  *Loader // loader of documents that the definitions name

	Template template.Options // what templates do not say themselves; Folder and Read are set for each
}

// The names of the languages in stored definitions.
const (
	ASL  = "asl" // the profile follows if it is not the default: asl/spec2016
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
	m, err := asl.Parse(def.Name, def.Text, asl.Under(profile), asl.Accepted(), asl.Placeholders())
	return &aslMachine{m, profile, def.Text}, err
}
