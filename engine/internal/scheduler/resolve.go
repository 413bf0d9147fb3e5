package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// op is work that is left to do within a step, or after the answer to a question.
type op struct {
	kind opKind
	atom int32
}

type opKind uint8

const (
	resolve opKind = iota // decide what follows from the atom's failure
	renew                 // continue with a retry that was waiting for its next try
	choose                // select from the atoms that have become ready
	unwind                // ask for the next entry of the undo stack
)

func (s *Scheduler) push(o op) { s.failing.ops = append(s.failing.ops, o) }

// runOps does the pending work until none is left or a question must be asked.
func (s *Scheduler) runOps() {
	for !s.growth.asked {
		if s.failing.opAt == len(s.failing.ops) {
			s.failing.ops, s.failing.opAt = s.failing.ops[:0], 0
			if s.cancelMore() {
				s.emit(Command{Op: More})
				return
			}
			if s.failing.opAt < len(s.failing.ops) {
				continue
			}
			if !s.nextAsk() {
				return
			}
			continue
		}
		o := s.failing.ops[s.failing.opAt]
		s.failing.opAt++
		switch o.kind {
		case resolve:
			r := &s.units[o.atom].Rec
			if r.State == states.TaskFailure && s.failing.rewinding == nil && (s.root != nil || !s.isEnding()) {
				s.failing.resolving = resolution{failed: o.atom, at: o.atom, failure: r.Failure}
				s.askUp()
			}
		case renew:
			s.prepareRetry(&s.units[o.atom])
		case choose:
			s.choose()
		case unwind:
			s.unwindNext()
		}
	}
}

// resolution is a failure that moves outward through the retries around it.
type resolution struct {
	failed  int32
	at      int32 // the retry that was asked last, or the failed atom
	inner   int32 // the innermost retry that answered REVERT; -1 if none did
	any     bool
	failure *atom.Failure
}

// askUp adds the failure to the next retry outward and asks that retry. If no retry is left, the resolution ends.
func (s *Scheduler) askUp() {
	res := &s.failing.resolving
	r := s.plan.Atoms[res.at].Retry
	for r >= 0 && (s.units[r].Rec.State == states.TaskIgnore || s.keeps(&s.units[r])) {
		// Skip a retry that was left out, or that cannot go back.
		r = s.plan.Atoms[r].Retry
	}
	if r < 0 {
		s.settle(atom.Decision{Verdict: atom.VerdictRevert}, -1)
		return
	}
	rec := &s.units[r].Rec
	h := rec.Tries()
	if last := len(h.Tries) - 1; last >= 0 {
		name := s.plan.Atoms[res.at].Name()
		try := h.Tries[last]
		if !slices.ContainsFunc(try.Failures, func(f *atom.Failure) bool { return f.Atom == name }) {
			f := *res.failure
			f.Atom, f.Stack = name, "" // the stack stays with the atom, because tries are stored again with each try
			try.Failures = append(slices.Clip(try.Failures), &f)
			h.Tries = slices.Clone(h.Tries)
			h.Tries[last] = try
			rec.setExtra(func(x *RecordExtra) { x.Tries = &h })
			s.write(&s.units[r])
		}
	}
	res.at = r
	in, missing := s.bind(&s.units[r], s.plan.Atoms[r].Args())
	s.emit(Command{Op: AskRetry, Unit: &s.units[r], Values: in, Missing: missing, Detail: &Detail{Tries: h}})
	s.growth.asked = true
}

func (s *Scheduler) answered(ev Event) {
	res := &s.failing.resolving
	if ev.Failure != nil {
		s.failing.fatal = append(s.failing.fatal, ev.Failure)
		return
	}
	if ev.Decision.Verdict == atom.VerdictRevert {
		if !res.any {
			res.inner, res.any = res.at, true
		}
		s.askUp()
		return
	}
	s.settle(ev.Decision, res.at)
}

// settle sets the intentions of atoms that follow from the last answer.
func (s *Scheduler) settle(d atom.Decision, by int32) {
	res := &s.failing.resolving
	switch v := d.Verdict; {
	case v == atom.VerdictRetry:
		if r := &s.units[by].Rec; r.Intention != states.IntendRevert {
			if d.After > 0 { // counted from the decision, so that a crash neither loses nor extends the wait
				r.setExtra(func(x *RecordExtra) { x.Due = s.now.Add(atom.Jittered(d.After, d.Jitter, s.random)) })
			}
			s.set(&s.units[by], r.State, states.IntendRetry)
		}
		s.revertAfter(by)
	case v == atom.VerdictRevertAll || !res.any || s.plan.FailurePolicy != flow.UndoFlow:
		s.revertAll()
	default:
		s.set(&s.units[res.inner], s.units[res.inner].Rec.State, states.IntendRevert)
		s.revertAfter(res.inner)
	}
}

// revertAfter marks all atoms after an atom to be reverted. It skips untouched atoms: such an atom cannot become
// ready while an atom before it is not forward, so its record need not be written.
func (s *Scheduler) revertAfter(a int32) {
	s.eachAfter(&s.units[a], s.toRevert)
}

// toRevert marks an atom to be reverted, unless a pivot keeps it or its revert has been given up.
func (s *Scheduler) toRevert(u *Unit) {
	r := &u.Rec
	if s.keeps(u) || r.givenUp() {
		return
	}
	s.set(u, r.State, states.IntendRevert)
	s.void(u)
}

// eachAfter calls do for each atom after an atom, except in untouched parts of the graph. do may change the atom.
func (s *Scheduler) eachAfter(u *Unit, do func(*Unit)) {
	var atoms []int32
	walk(s.plan.Succ, func(v int32) bool {
		if s.readySet.nodes[v].flags&untouched != 0 {
			return false
		}
		if a := s.plan.Nodes[v].Atom; a >= 0 {
			atoms = append(atoms, a)
		}
		return true
	}, u.Planned.Node)
	slices.Sort(atoms)
	for _, a := range atoms {
		do(&s.units[a])
	}
}

func (s *Scheduler) revertAll() {
	var atoms []int32
	for n := range s.plan.Nodes {
		if a := s.plan.Nodes[n].Atom; a >= 0 && s.readySet.nodes[n].flags&untouched == 0 {
			atoms = append(atoms, a)
		}
	}
	if !s.failing.revAll {
		s.failing.revAll = true
		if s.root == nil { // a growing flow keeps the memory of its language
			s.emit(Command{Op: Remember, Detail: &Detail{Memory: revAllMemory}})
		}
		for _, list := range [][]int32{s.readySet.newReady[s.readySet.chooseAt:], s.readySet.next} {
			for _, a := range list {
				s.touch(&s.units[a])
			}
		}
	}
	s.out = slices.Grow(s.out, len(atoms))
	for _, a := range atoms {
		s.toRevert(&s.units[a])
	}
}

// revAllMemory is the memory of a run of a planned flow that must be undone completely.
var revAllMemory = atom.MustEncode(map[string]bool{"revert_all": true})

// Intention returns an atom's intention, even if the atom is untouched and its record does not contain the
// intention.
func (s *Scheduler) Intention(a int32) states.Intention {
	r := &s.units[a].Rec
	if s.readySet.nodes[s.plan.Atoms[a].Node].flags&untouched == 0 {
		return r.Intention
	}
	if s.failing.revAll || s.retryBefore(s.plan.Atoms[a].Node) {
		return states.IntendRevert
	}
	return r.Intention
}

// retryBefore reports whether a retry before the node will try again or be reverted.
func (s *Scheduler) retryBefore(n int32) (is bool) {
	walk(s.plan.Pred, func(p int32) bool {
		if a := s.plan.Nodes[p].Atom; a >= 0 && s.units[a].IsRetry() {
			in := s.units[a].Rec.Intention
			is = is || in == states.IntendRetry || in == states.IntendRevert
		}
		return !is
	}, n)
	return is
}
