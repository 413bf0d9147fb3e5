package flow

import "github.com/ebbflow/ebb/atom"

// A GrowingFlow is a flow whose nodes are decided while it runs, by a
// [Language].
type GrowingFlow struct {
	self *atom.Atom
	lang Language
}

// Growing returns a flow that grows as lang says. It is the whole of a run: its
// input is the run's input, its end the run's end.
func Growing(name string, lang Language) *GrowingFlow {
	return &GrowingFlow{self: atom.New(name, grown{}), lang: lang}
}

// Name returns the flow's name.
func (f *GrowingFlow) Name() string { return f.self.Name() }

// Language returns what decides how the flow grows.
func (f *GrowingFlow) Language() Language { return f.lang }

func (f *GrowingFlow) isFlow() {}
