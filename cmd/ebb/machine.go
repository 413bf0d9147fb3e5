package main

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
)

// A machine is a compiled definition, in any of the languages that the command
// runs.
type machine interface {
	flow.Language
	// stored returns the definition as it is stored: the name of the language, and
	// a text that needs nothing else.
	stored() (language string, text []byte)
	// problems returns what looks wrong though it can be run, with places in the
	// text that was compiled.
	problems() flow.Diagnostics
	// uses returns the tasks that it calls.
	uses() []taskUse
	// subflows returns the names of the flows that it runs.
	subflows() []string
	// unheard returns why nothing could come of a signal of that name; "" when
	// something may.
	unheard(signal string) string
	// picture returns the machine as a view.
	picture(title string) draw.View
	// became returns what became of each node of the picture, by a run's history.
	became(history []storage.Entry) map[string]string
	// waits returns what a run waits for beside its atoms; nil when that is all.
	waits(run *storage.Run) *sm4c.Waiting
}

// A taskUse is where a definition names a task.
type taskUse struct {
	task  string
	where string // begins messages: state "Pay"
	state string // by which mocks know the caller
	at    int    // where the name stands in the text; -1 when it is elsewhere
}

// A reading is how definitions are read.
type reading struct {
	profile asl.Profile // of the States Language
	strict  bool
	express bool    // they are of type EXPRESS
	loader  *loader // of documents that they name
}

// howToRead returns how a file is read unless a command says more.
func (s *session) howToRead(file string) (reading, error) {
	l, err := s.loaderFor(file)
	return reading{profile: s.edition, loader: l}, err
}

// languageName tells languages apart. It is what stored definitions have.
type languageName string

const (
	languageASL  languageName = "asl" // behind it stands the profile, if it is not the default: asl/spec2016
	languageSM4C languageName = "sm4c"
)

// parseStored compiles a definition from the store.
func parseStored(def *storage.Definition) (machine, error) {
	if def.Language == string(languageSM4C) {
		m, err := sm4c.Parse(def.Name, def.Text)
		return &sm4cMachine{m}, err
	}
	profile, known := profileOf(def.Language)
	if !known {
		return nil, usagef("it is in %s, which this version of Ebb does not know", def.Language)
	}
	m, err := asl.Parse(def.Name, def.Text, asl.Under(profile))
	return &aslMachine{m, profile, def.Text}, err
}
