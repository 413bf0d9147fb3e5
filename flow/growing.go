package flow

import "github.com/ebbflow/ebb/atom"

// A GrowingFlow is a flow whose nodes are decided while it runs, by a
// [Language].
type GrowingFlow struct {
	self *atom.Atom
	lang Language
}

// Growing returns a flow that grows as lang says. As the whole of a run its
// input is the run's input. Within another flow it is an object of the symbols
// it requires ([atom.Requires]), and its result is provided as [atom.Provides]
// says.
func Growing(name string, lang Language, opts ...atom.Option) *GrowingFlow {
	return &GrowingFlow{self: atom.New(name, grown{}, opts...), lang: lang}
}

// Name returns the flow's name.
func (f *GrowingFlow) Name() string { return f.self.Name() }

// Language returns what decides how the flow grows.
func (f *GrowingFlow) Language() Language { return f.lang }

func (f *GrowingFlow) isFlow() {}
