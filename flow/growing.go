package flow

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A GrowingFlow is a flow whose [grow.Language] decides its nodes while it runs.
type GrowingFlow struct {
	name string
	self *atom.Atom // stands for the flow among its nodes
	lang grow.Language
}

// growingSelf is the self of all flows that [Growing] returns, because servers have thousands of them.
var growingSelf = atom.New(GrowingPath, grown{})

// GrowingPath is the path of the growing flow's own record among the records of its
// nodes. No node can have this path, because languages escape slashes in names.
const GrowingPath = "/"

// Growing returns a flow whose nodes lang decides. A growing flow cannot be part of
// another flow: its input is the run's input, and its end is the run's end. Ebb compares
// no structure when such a run resumes: the run continues with the language that the flow
// has then, see [grow.Language].
func Growing(name string, lang grow.Language) *GrowingFlow {
	return &GrowingFlow{name: name, self: growingSelf, lang: lang}
}

// Name returns the flow's name.
func (f *GrowingFlow) Name() string { return f.name }

// String returns the name of the node.
func (f *GrowingFlow) String() string { return f.Name() }

// Language returns the language that decides how the flow grows.
func (f *GrowingFlow) Language() grow.Language { return f.lang }

func (f *GrowingFlow) isFlow() {}
