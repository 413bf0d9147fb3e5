package flow

import "github.com/ebbflow/ebb/atom"

// A GrowingFlow is a flow whose nodes are decided while it runs, by a
// [Language].
type GrowingFlow struct {
	name string
	self *atom.Atom
	lang Language
}

// GrowingPath is the path of a growing flow's own record among those of its
// nodes. No node has it, whatever it and the flow are called, for a language
// escapes slashes in names.
const GrowingPath = "/"

// Growing returns a flow that grows as lang says. It is the whole of a run: its
// input is the run's input, its end the run's end. It has no structure to compare:
// a run goes on with whatever language the flow has then, see [Language].
func Growing(name string, lang Language) *GrowingFlow {
	return &GrowingFlow{name: name, self: atom.New(GrowingPath, grown{}), lang: lang}
}

// Name returns the flow's name.
func (f *GrowingFlow) Name() string { return f.name }

// Language returns the language that decides how the flow grows.
func (f *GrowingFlow) Language() Language { return f.lang }

func (f *GrowingFlow) isFlow() {}
