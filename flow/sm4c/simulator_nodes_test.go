package sm4c_test

import (
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

func (w *world) add(f *simFlow, spec grow.Spec) {
	if f.names[spec.Name] {
		w.brokenf("%q: the node %q is added twice", f.path, spec.Name)
	}
	f.names[spec.Name] = true
	if !json.Valid(spec.Note.JSON()) || spec.Kind == grow.Work && !json.Valid(spec.Input.JSON()) {
		w.brokenf("%q: node %q: note %s or input %s is not JSON", f.path, spec.Name, spec.Note, spec.Input)
	}
	n := &simNode{flow: f, spec: spec}
	f.open = append(f.open, n)
	w.at(spec.Due, func() { w.begin(n) })
}

// begin starts an attempt of a node.
func (w *world) begin(n *simNode) {
	if n.gone || n.flow.over || n.flow.run.end != nil {
		return
	}
	n.attempt++
	switch n.spec.Kind {
	case grow.Timer:
		w.ended(n, grow.Cause{Kind: grow.Ended})
	case grow.Work:
		w.work(n)
	case grow.Nested:
		w.nested(n)
	case grow.Fork:
		n.children, n.begun, n.ended, n.decided = nil, 0, 0, false
		for i := range n.spec.Group.Count {
			path := n.path()
			if n.attempt > 1 {
				path += fmt.Sprintf("@%d", n.attempt)
			}
			n.children = append(n.children, &simFlow{
				run: n.flow.run, path: fmt.Sprintf("%s[%d]", path, i), index: i, shared: n.spec.Group.Shared, parent: n, names: map[string]bool{},
			})
		}
		w.beginChildren(n)
	}
}

func (w *world) ended(n *simNode, cause grow.Cause) {
	if n.gone || n.flow.over || n.flow.run.end != nil {
		return
	}
	cause.Name, cause.Note, cause.Attempt = n.spec.Name, n.spec.Note, n.attempt
	if cause.Kind == grow.Ended && n.spec.Reverts() {
		n.flow.run.undone = append(n.flow.run.undone, n)
	}
	w.ask(n.flow, cause)
}

func (w *world) beginChildren(n *simNode) {
	slots := n.spec.Group.Slots
	if slots == 0 {
		slots = n.spec.Group.Count
	}
	for n.begun < len(n.children) && n.begun-n.ended < slots {
		child := n.children[n.begun]
		n.begun++
		w.at(w.now, func() {
			if !n.gone {
				w.ask(child, grow.Cause{Kind: grow.Begin})
			}
		})
	}
}

func (w *world) nested(n *simNode) {
	child := n.spec.Child
	id := fmt.Sprintf("%s/%s", n.flow.run.about.ID, n.path())
	if n.attempt > 1 {
		id += fmt.Sprintf("@%d", n.attempt)
	}
	if w.flows[child.Flow] == nil {
		w.at(w.now, func() {
			w.ended(n, grow.Cause{Kind: grow.Failed, Failure: &atom.Failure{Code: atom.CodeNoFlow, Message: "no flow " + child.Flow}})
		})
		return
	}
	r := w.start(id, child.Flow, n.spec.Input, child.Attributes)
	if child.Detached {
		w.at(w.now, func() { w.ended(n, grow.Cause{Kind: grow.Ended, Result: atom.MustEncode(id)}) })
		return
	}
	r.parent, n.child = n, r
}

func (w *world) work(n *simNode) {
	a := answer{output: n.spec.Input.String()}
	if w.task != nil {
		a = w.task(call{run: n.flow.run.about.ID, path: n.path(), task: n.spec.Task, input: n.spec.Input, attempt: n.attempt})
	}
	attempt := n.attempt
	var cause grow.Cause
	if n.spec.Timeout > 0 && a.after > n.spec.Timeout {
		a = answer{after: n.spec.Timeout, failure: &atom.Failure{Code: atom.CodeTimeout, Message: "took too long"}}
	}
	if a.failure != nil {
		cause.Kind, cause.Failure = grow.Failed, a.failure
	} else {
		cause.Kind, cause.Result = grow.Ended, atom.FromJSON([]byte(a.output))
	}
	w.at(w.now.Add(a.after), func() {
		if n.attempt == attempt {
			w.ended(n, cause)
		}
		if a.then != nil {
			a.then()
		}
	})
}

func (w *world) again(f *simFlow, cause *grow.Cause, again *grow.Again) {
	n := f.find(cause.Name)
	if n == nil {
		w.brokenf("%q: again for %q, which is not open", f.path, cause.Name)
		return
	}
	if again.Note != nil {
		n.spec.Note = again.Note
	}
	w.at(w.now.Add(again.After), func() { w.begin(n) })
}
