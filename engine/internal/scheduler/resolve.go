package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// op is something left to do within a step, or after the answer to an ask.
type op struct {
	kind opKind
	atom int32
}

type opKind uint8

const (
	resolve opKind = iota // decide what the atom's failure means
	renew                 // a retry that was waiting to try again goes on
	choose                // pick from what has become ready
)

func (s *Scheduler) push(o op) { s.ops = append(s.ops, o) }

// runOps does what is left, until there is nothing or something must be asked.
func (s *Scheduler) runOps() {
	for !s.asked {
		if s.opAt == len(s.ops) {
			s.ops, s.opAt = s.ops[:0], 0
			if !s.nextAsk() {
				return
			}
			continue
		}
		o := s.ops[s.opAt]
		s.opAt++
		switch o.kind {
		case resolve:
			if s.rec[o.atom].State == states.TaskFailure {
				s.resolving = resolution{failed: o.atom, at: o.atom, failure: s.rec[o.atom].Failure}
				s.askUp()
			}
		case renew:
			s.prepareRetry(o.atom)
		case choose:
			s.choose()
		}
	}
}

// resolution is a failure on its way outward through the retries around it.
type resolution struct {
	failed  int32
	at      int32 // the retry that was asked last, or the failed atom
	inner   int32 // the innermost retry that answered REVERT, if any did
	any     bool
	failure *atom.Failure
}

// askUp charges the failure to the next retry outward and asks it; with none
// left the resolution ends.
func (s *Scheduler) askUp() {
	res := &s.resolving
	r := s.plan.Atoms[res.at].Retry
	for r >= 0 && s.rec[r].State == states.TaskIgnore { // a retry that was left out is as good as none
		r = s.plan.Atoms[r].Retry
	}
	if r < 0 {
		s.settle(atom.Decision{Verdict: atom.VerdictRevert}, -1)
		return
	}
	rec := &s.rec[r]
	h := rec.Tries()
	if last := len(h.Tries) - 1; last >= 0 {
		name := s.plan.Atoms[res.at].Name()
		try := h.Tries[last]
		if !slices.ContainsFunc(try.Failures, func(f *atom.Failure) bool { return f.Atom == name }) {
			f := *res.failure
			f.Atom = name
			try.Failures = append(slices.Clip(try.Failures), &f)
			h.Tries = slices.Clone(h.Tries)
			h.Tries[last] = try
			rec.setRare(func(x *Rare) { x.Tries = &h })
			s.emit(Command{Op: Write, Atom: r, Rec: *rec})
		}
	}
	res.at = r
	in, missing := s.bind(r, s.plan.Atoms[r].Args())
	s.emit(Command{Op: AskRetry, Atom: r, Tries: h, Values: in, Missing: missing})
	s.asked = true
}

func (s *Scheduler) answered(ev Event) {
	res := &s.resolving
	if ev.Failure != nil {
		s.fatal = append(s.fatal, ev.Failure)
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

// settle gives atoms the intentions that follow from the last answer.
func (s *Scheduler) settle(d atom.Decision, by int32) {
	res := &s.resolving
	switch v := d.Verdict; {
	case v == atom.VerdictRetry:
		if r := &s.rec[by]; r.Intention != states.IntendRevert {
			if d.After > 0 { // counted from the decision, so that a crash cannot lose or prolong it
				r.setRare(func(x *Rare) { x.Due = s.now.Add(d.After) })
			}
			s.set(by, r.State, states.IntendRetry)
		}
		s.revertAfter(by)
	case v == atom.VerdictRevertAll || !res.any || !s.opt.KeepOuter:
		s.revertAll()
	default:
		s.set(res.inner, s.rec[res.inner].State, states.IntendRevert)
		s.revertAfter(res.inner)
	}
}

// revertAfter lets all that comes after an atom be reverted. What is untouched
// is left as it is: it cannot become ready while something before it is not
// forward, and it need not be written for that.
func (s *Scheduler) revertAfter(a int32) {
	s.eachAfter(s.plan.Atoms[a].Node, func(b int32) { s.set(b, s.rec[b].State, states.IntendRevert) })
}

// eachAfter calls do for each atom after node n that is not in untouched
// country. do may change the atom.
func (s *Scheduler) eachAfter(n int32, do func(a int32)) {
	seen := map[int32]bool{n: true}
	var atoms []int32
	for work := []int32{n}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range s.plan.Succ(n) {
			if seen[v] || s.nodes[v].flags&untouched != 0 {
				continue
			}
			seen[v] = true
			work = append(work, v)
			if a := s.plan.Nodes[v].Atom; a >= 0 {
				atoms = append(atoms, a)
			}
		}
	}
	slices.Sort(atoms)
	for _, a := range atoms {
		do(a)
	}
}

func (s *Scheduler) revertAll() {
	var atoms []int32
	for n := range s.plan.Nodes {
		if a := s.plan.Nodes[n].Atom; a >= 0 && s.nodes[n].flags&untouched == 0 {
			atoms = append(atoms, a)
		}
	}
	if !s.revAll {
		s.revAll = true
		s.emit(Command{Op: Remember, Atom: -1, Memory: revAllMemory})
		for _, list := range [][]int32{s.newReady[s.chooseAt:], s.next} {
			for _, a := range list {
				s.touch(a)
			}
		}
	}
	s.out = slices.Grow(s.out, len(atoms))
	for _, a := range atoms {
		s.set(a, s.rec[a].State, states.IntendRevert)
	}
}

// revAllMemory is what a run of a planned flow remembers when all of it is to
// be undone.
var revAllMemory = atom.MustEncode(map[string]bool{"revert_all": true})

// Intention returns what an atom is meant to do, also where that is not written
// because nothing has touched the atom yet.
func (s *Scheduler) Intention(a int32) states.Intention {
	r := &s.rec[a]
	if s.nodes[s.plan.Atoms[a].Node].flags&untouched == 0 {
		return r.Intention
	}
	if s.revAll || s.retryBefore(s.plan.Atoms[a].Node) {
		return states.IntendRevert
	}
	return r.Intention
}

// retryBefore reports whether a retry before the node is to try again or to be
// reverted.
func (s *Scheduler) retryBefore(n int32) bool {
	seen := map[int32]bool{n: true}
	for work := []int32{n}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range s.plan.Pred(n) {
			if seen[p] {
				continue
			}
			seen[p] = true
			work = append(work, p)
			if a := s.plan.Nodes[p].Atom; a >= 0 && s.isRetry(a) {
				if in := s.rec[a].Intention; in == states.IntendRetry || in == states.IntendRevert {
					return true
				}
			}
		}
	}
	return false
}

// retry lets a retry's flow be tried again, after the wait it asked for.
func (s *Scheduler) retry(a int32) {
	r := &s.rec[a]
	if !r.Due().After(s.now) {
		r.clearDue()
	}
	s.set(a, states.TaskRetrying, r.Intention)
	s.prepareRetry(a)
	if r.Due().IsZero() {
		s.execute(a)
	}
}

// prepareRetry resets what comes after a retry in RETRYING.
func (s *Scheduler) prepareRetry(a int32) {
	r := &s.rec[a]
	if r.State != states.TaskRetrying {
		return
	}
	s.set(a, r.State, states.IntendExecute)
	s.eachAfter(s.plan.Atoms[a].Node, s.resetAtom)
	if !r.Due().IsZero() {
		s.waits++
		s.emit(Command{Op: Wait, Atom: a, Due: r.Due()})
	}
}

// fired ends a wait.
func (s *Scheduler) fired(ev Event) {
	switch {
	case ev.Node != nil:
		s.nodeFired(ev.Node)
	case ev.Atom < 0:
		s.overdue()
	case s.rec[ev.Atom].State == states.TaskRetrying && !s.rec[ev.Atom].Due().IsZero():
		s.waits--
		s.rec[ev.Atom].clearDue()
		s.touch(ev.Atom)
		s.push(op{choose, -1})
	}
}

// unwait gives up the wait of a retry that is to be reverted instead.
func (s *Scheduler) unwait(a int32) {
	if r := &s.rec[a]; !r.Due().IsZero() {
		s.waits--
		r.clearDue()
		s.emit(Command{Op: Unwait, Atom: a})
	}
}

// choose selects from what has become ready, asking deciders where there are
// some. When they leave something out, what that made ready is looked at too.
func (s *Scheduler) choose() {
	if len(s.fatal) > 0 {
		return
	}
	for s.chooseAt < len(s.newReady) {
		a := s.newReady[s.chooseAt]
		s.chooseAt++
		if !s.ready[a] || s.selected[a] {
			continue
		}
		r := &s.rec[a]
		if r.Intention == states.IntendExecute && r.State == states.TaskPending && len(s.plan.Atoms[a].Deciders) > 0 {
			s.deciding = a
			s.asked = true
			s.emit(Command{Op: AskDeciders, Atom: a})
			s.push(op{choose, -1})
			return
		}
		s.selected[a] = true
		s.next = append(s.next, a)
	}
	s.newReady, s.chooseAt = s.newReady[:0], 0
}

func (s *Scheduler) voted(ev Event) {
	a := s.deciding
	switch {
	case ev.Failure != nil:
		s.fatal = append(s.fatal, ev.Failure)
	case !ev.Nay:
		s.selected[a] = true
		s.next = append(s.next, a)
	default:
		s.leaveOut(a, ev.Depth)
	}
}

// leaveOut ignores an atom and as much after it as depth says.
func (s *Scheduler) leaveOut(a int32, depth flow.Depth) {
	out := []int32{a}
	node := s.plan.Atoms[a].Node
	switch depth {
	case flow.DepthAtom:
	case flow.DepthNeighbors:
		for _, v := range s.plan.Succ(node) {
			if b := s.plan.Nodes[v].Atom; b >= 0 && !s.isRetry(b) {
				out = append(out, b)
			}
		}
	case flow.DepthFlow, flow.DepthAll:
		seen := map[int32]bool{node: true}
		for work := []int32{node}; len(work) > 0; {
			n := work[len(work)-1]
			work = work[:len(work)-1]
			for _, v := range s.plan.Succ(n) {
				b := s.plan.Nodes[v].Atom
				if seen[v] || depth == flow.DepthFlow && (b < 0 || s.isRetry(b)) {
					continue
				}
				seen[v] = true
				work = append(work, v)
				if b >= 0 {
					out = append(out, b)
				}
			}
		}
	}
	slices.Sort(out)
	for _, b := range slices.Backward(slices.Compact(out)) { // a last: while it is PENDING, a resumed run asks again
		s.set(b, states.TaskIgnore, states.IntendIgnore)
	}
}
