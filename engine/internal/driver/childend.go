package driver

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/storage"
)

// tellParent sends the parent run a message about the end of this run.
func (c *children) tellParent() {
	if c.family.parent == "" {
		return
	}
	m := storage.Message{Run: c.family.parent, Kind: messageChild, Name: c.Claim.Run, Body: c.Draft.Head.Output.Data}
	if c.Draft.Head.Outcome == storage.Continued { // the parent now waits for the successor
		m.Kind = messageContinued
		c.Draft.Send(m)
		return
	}
	m.Note = atom.MustEncode(attempts.RunEnds[c.Draft.Head.Outcome])
	switch {
	case c.Draft.Head.Outcome != storage.Succeeded:
		m.Failure = c.Draft.Head.Failure
		if m.Failure == nil {
			m.Failure = &atom.Failure{Code: atom.CodeCancelled}
		}
	case len(m.Body) > atom.MaxValue:
		m.Body = nil
		m.Failure = atom.NewFailure("", 0, atom.ErrValueTooLarge)
	}
	c.Draft.Send(m)
}

// outputs returns the results of a plan's run for the parent run: an object of its symbols.
func (c *children) outputs() atom.Value {
	symbols := slices.Sorted(c.plan.Symbols)
	args, vals := make([]atom.Arg, len(symbols)), make([]atom.Value, len(symbols))
	for i, symbol := range symbols {
		args[i].Name = symbol
		if v, ok := c.s.Final(symbol); ok {
			vals[i] = v
		}
	}
	return atom.NewValues(args, vals).Object()
}
