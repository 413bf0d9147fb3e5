package failat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
)

// A World describes what an [Explorer] tries.
type World struct {
	Codes  func(path string) []string // further codes with which the atom at a path fails; may be nil
	Stays  []string                   // paths of atoms whose effects may stay when a run is undone
	Honest bool                       // an atom that fails has done nothing, and no atom panics
	Waits  []string                   // paths of answered atoms to try without an answer; see Instance
	Most   int                        // maximum number of cases; of more, an even part is run

	// Class names what atoms have in common, such as the state that they are visits of. Only the first atom of a class
	// is made to fail. If Class is nil, each is.
	Class func(path string) string
}

// An Instance is one world that a run changes.
type Instance struct {
	Flow    func() flow.Node // called again when another process resumes the run
	Options []engine.Option
	Run     []engine.RunOption
	State   func() any // the part that must be restored if a run is undone
	Open    func() (backend.Store, error)

	// Answers end the waits of the run, by the path of the atom: its result, or an error. A run that is not answered
	// needs a Limit.
	Answers map[string]any
	// Beside is called when the run starts, and returns when its context ends. It may be nil.
	Beside func(ctx context.Context)
	Limit  time.Duration // after which a run is given up; 0 is never
}

// A Host runs cases. A test and the command implement it.
type Host interface {
	// Fresh returns a world in which nothing was done.
	Fresh() *Instance
	// InTime calls f, in virtual time if it can. It returns when f has returned.
	InTime(f func(Host))
	// Logf reports messages that are not findings.
	Logf(format string, args ...any)
}

// An Explorer runs the cases of one world.
type Explorer struct {
	of World

	plain *played            // the run without a failure
	known map[script]*played // runs without a crash that are used more than once
	told  map[string]string  // changes that were reported, by the first case that reported them
	bad   int
}

// New returns an explorer of a world.
func New(w World) *Explorer {
	return &Explorer{of: w, known: map[script]*played{}, told: map[string]string{}}
}

// Bad returns the number of cases with a finding.
func (x *Explorer) Bad() int { return x.bad }

// Prepare runs the flow without a failure. It returns the reason why no case can be judged, or "".
func (x *Explorer) Prepare(h Host) string {
	x.plain = x.play(h, script{}, false)
	x.known[script{}] = x.plain
	switch p := x.plain; {
	case len(p.waits) > 0:
		return fmt.Sprintf("FailAt: with nothing failing, the flow must end; it waits for ever at %s. Give %[1]s an answer "+
			"in World.Answers, or a Deadline in its atom.Deferral", strings.Join(p.waits, ", "))
	case p.err != nil:
		return fmt.Sprintf("FailAt: the flow cannot be run: %v", p.err)
	case p.run.State != states.FlowSuccess:
		hint := ""
		if f := p.run.Failure; f != nil && f.Code == atom.CodeTimeout && !slices.Contains(x.of.Waits, f.Atom) {
			hint = fmt.Sprintf(". If %s waits for a signal or a token, give it an answer in World.Answers", f.Atom)
		}
		return fmt.Sprintf("FailAt: with nothing failing, the flow must succeed in a new world; it ended %v: %v%s",
			p.run.State, p.run.Failure, hint)
	}
	again := x.play(h, script{}, true)
	if changes := x.plain.begin.diff(again.begin); len(changes) > 0 {
		return "FailAt: two worlds that New made differ already; State must leave that out:\n\n" + table(changes, nil)
	}
	if changes := x.plain.end.diff(again.end); len(changes) > 0 {
		return "FailAt: two runs in which nothing failed leave worlds that differ; State must leave that out:\n\n" +
			table(changes, nil)
	}
	return x.look(h, again)
}

// NothingSeen is why no case can be judged if no atom changes the world.
const NothingSeen = "FailAt: State shows nothing of what the flow does: it is the same before and after each atom, " +
	"so nothing could be found"

// look reports what cannot be judged: effects that State does not show, and atoms that do not run.
func (x *Explorer) look(h Host, p *played) string {
	var unseen []string
	seen := false
	for _, st := range p.steps {
		changes := len(st.before.diff(st.end)) > 0
		seen = seen || changes
		if !changes && p.reverts[st.Path] {
			unseen = append(unseen, st.atom())
		}
	}
	if !seen {
		return NothingSeen
	}
	if len(unseen) > 0 {
		h.Logf("FailAt: State does not show what these atoms do, so whether it is undone is not known: %s",
			strings.Join(unseen, ", "))
	}
	if len(p.idle) > 0 {
		h.Logf("FailAt: these atoms do not run when nothing fails, so they were not made to fail; a world that leads to "+
			"them needs a FailAt of its own: %s",
			strings.Join(p.idle, ", "))
	}
	return ""
}
