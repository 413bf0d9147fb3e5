package asl_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

func (s *simulator) add(f *simFlow, spec grow.Spec) {
	if f.names[spec.Name] {
		s.brokenf("%q: the node %q is added twice", f.path, spec.Name)
	}
	f.names[spec.Name] = true
	if len(spec.Note) > 0 && !json.Valid(spec.Note.JSON()) || spec.Kind == grow.Work && !json.Valid(spec.Input.JSON()) {
		s.brokenf("%q: node %q: note %s or input %s is not JSON", f.path, spec.Name, spec.Note, spec.Input)
	}
	n := &simNode{flow: f, spec: spec}
	f.open = append(f.open, n)
	s.at(spec.Due, func() { s.begin(n) })
}

// begin starts an attempt of a node.
func (s *simulator) begin(n *simNode) {
	if n.gone || n.flow.over {
		return
	}
	n.attempt++
	if s.past == nil {
		s.past = map[string]*grow.Past{}
	}
	s.past[n.path()] = &grow.Past{Open: true, Input: n.spec.Input, Note: n.spec.Note, Started: s.now}
	switch n.spec.Kind {
	case grow.Nested:
		s.nested(n)
	case grow.Timer:
		s.ask(n.flow, grow.Cause{Kind: grow.Ended, Name: n.spec.Name, Note: n.spec.Note, Attempt: n.attempt})
	case grow.Work:
		s.work(n)
	case grow.Fork:
		n.children, n.begun, n.ended = nil, 0, 0
		if !json.Valid(n.spec.Group.Shared.JSON()) {
			s.brokenf("%s: shared is not JSON: %s", n.path(), n.spec.Group.Shared)
		}
		for i := range n.spec.Group.Count {
			n.children = append(n.children, &simFlow{
				path: fmt.Sprintf("%s[%d]", n.path(), i), index: i, shared: n.spec.Group.Shared, parent: n, names: map[string]bool{},
			})
		}
		s.beginChildren(n)
	}
}

// nested runs the run that a node begins to its end, in time of its own.
func (s *simulator) nested(n *simNode) {
	child := n.spec.Child
	sub := &simulator{
		lang: s.lang, task: s.task, steps: s.steps,
		run: &grow.RunInfo{ID: child.ID, Flow: child.Flow, Started: s.now, Attributes: child.Attributes},
	}
	sub.start(n.spec.Input.String())
	s.asked += sub.asked
	if s.subs = append(s.subs, sub); sub.fault != nil {
		s.fault = sub.fault
		return
	}
	if sub.end == nil {
		return // it waits for what never comes
	}
	cause := grow.Cause{Kind: grow.Ended, Name: n.spec.Name, Note: n.spec.Note, Attempt: n.attempt, Result: sub.end.Value}
	if sub.end.Failure != nil {
		cause.Kind, cause.Failure = grow.Failed, sub.end.Failure
	}
	s.at(sub.now, func() { s.nodeEnded(n, cause) })
}

// nodeEnded reports the end of a node.
func (s *simulator) nodeEnded(n *simNode, cause grow.Cause) {
	if n.gone || n.flow.over {
		return
	}
	if past := s.past[n.path()]; past != nil {
		past.Open, past.Result, past.Failure, past.Ended = false, cause.Result, cause.Failure, s.now
	}
	s.ask(n.flow, cause)
}

func (s *simulator) beginChildren(n *simNode) {
	slots := n.spec.Group.Slots
	if slots == 0 {
		slots = n.spec.Group.Count
	}
	for n.begun < len(n.children) && n.begun-n.ended < slots {
		child := n.children[n.begun]
		n.begun++
		s.at(s.now, func() { s.ask(child, grow.Cause{Kind: grow.Begin}) })
	}
}

func (s *simulator) work(n *simNode) {
	a := answer{output: n.spec.Input.String()}
	if s.task != nil {
		a = s.task(call{
			name: n.spec.Name, path: n.path(), resource: n.spec.Task, input: n.spec.Input, attempt: n.attempt, timeout: n.spec.Timeout,
		})
	}
	s.dispatchRemote(n, a)
	cause := grow.Cause{Kind: grow.Ended, Name: n.spec.Name, Note: n.spec.Note, Attempt: n.attempt}
	switch {
	case n.spec.Timeout > 0 && (a.never || a.after > n.spec.Timeout):
		a.after, a.failure = n.spec.Timeout, &atom.Failure{Code: atom.CodeTimeout, Message: "took too long"}
	case a.never:
		return
	}
	if a.failure != nil {
		cause.Kind, cause.Failure = grow.Failed, a.failure
	} else {
		cause.Result = atom.FromJSON([]byte(a.output))
	}
	s.at(s.now.Add(a.after), func() {
		if n.gone {
			return
		}
		if n.spec.Pivot && cause.Kind == grow.Ended {
			s.undone = nil
		}
		if n.spec.Reverts() { // once, for any number of tries
			s.undone = append(slices.DeleteFunc(s.undone, func(o *simNode) bool { return o == n }), n)
		}
		s.nodeEnded(n, cause)
	})
}

// dispatchRemote records the start of work that another party ends.
func (s *simulator) dispatchRemote(n *simNode, a answer) {
	cause := grow.Cause{Kind: grow.Taken, Name: n.spec.Name, Note: n.spec.Note, Attempt: n.attempt}
	switch {
	case n.spec.Token == "":
		return
	case n.spec.Queue != "":
		cause.Result = atom.MustEncode(a.worker)
	case a.submitted == "":
		a.submitted = "{}"
		fallthrough
	default:
		cause.Kind, cause.Result = grow.Called, atom.FromJSON([]byte(a.submitted))
	}
	s.ask(n.flow, cause)
}

func (s *simulator) again(f *simFlow, cause grow.Cause, again *grow.Again) {
	for _, n := range f.open {
		if n.spec.Name != cause.Name {
			continue
		}
		if again.Note != nil {
			n.spec.Note = again.Note
		}
		if again.Input != nil && n.spec.Kind == grow.Work {
			n.spec.Input = again.Input
		}
		if again.Input != nil && n.spec.Kind == grow.Fork {
			n.spec.Group.Shared, n.memo = again.Input, nil
		}
		s.at(s.now.Add(again.After), func() { s.begin(n) })
		return
	}
	s.brokenf("%q: again for %q, which is not open", f.path, cause.Name)
}
