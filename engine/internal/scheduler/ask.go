package scheduler

import (
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// ask is a pending question to a scope's language.
type ask struct {
	scope   *Scope
	node    *Node // node that the cause concerns; may be nil
	cause   grow.Cause
	message int64 // number of the message that caused the question; 0 if none did
	undo    bool  // not a question: load the next entry that the scope wants undone
	left    bool  // not a question: a dropped node has left the scope, which may have nothing left to wait for
	upTo    int   // not a question: start children of the fork, up to this number
}

// mustWait reports whether the question has to wait, because its scope first wants to be asked for more, or to have
// part of its work undone.
func (s *Scheduler) mustWait(q *ask) bool {
	switch q.cause.Kind {
	case grow.Undone, grow.UndoFailed, grow.Continue, grow.Overdue, grow.Stopped:
		return false
	default:
		return !q.undo && (q.scope.undoing != nil || s.wantsMore(q.scope))
	}
}

// wantsMore reports whether a scope's language has asked to be asked again. Until then it receives no other
// question, because the scope's record contains its note for that call.
func (s *Scheduler) wantsMore(scope *Scope) bool {
	r := &scope.Rec
	return scope.begun && r.Result != nil && (r.Ended == grow.EndNone || r.Ended == grow.EndDeferred)
}

// matters reports whether a question is still needed. It is not needed if its scope has ended or is ending, its
// node was stopped, or its cause has been handled.
func (s *Scheduler) matters(q *ask) bool {
	switch kind := q.cause.Kind; {
	case q.scope.closed, q.node != nil && q.node.stopped, q.undo && q.scope.undoing == nil:
		return false
	case kind == grow.Continue && !s.wantsMore(q.scope), q.upTo > 0 && !q.node.begins(q):
		return false
	default:
		return !q.scope.stopping || kind == grow.Overdue || kind == grow.Stopped
	}
}

// release makes a scope's waiting questions pending.
func (s *Scheduler) release(scope *Scope) {
	if len(scope.held) > 0 && scope.undoing == nil && !s.wantsMore(scope) {
		s.growth.asks = append(scope.held, s.growth.asks...)
		scope.held = nil
	}
}

func (s *Scheduler) queueAsk(scope *Scope, node *Node, cause grow.Cause) {
	s.growth.asks = append(s.growth.asks, ask{scope: scope, node: node, cause: cause})
}

// note gives a question about a node the note that the node has now: the answer to an earlier question may have changed
// it.
func (q *ask) note() {
	if k := q.cause.Kind; q.node != nil && (k == grow.Ended || k == grow.Failed || k == grow.Taken || k == grow.Called) {
		q.cause.Note = q.node.Spec.Note
	}
}

// nextAsk asks the next question that is still needed. It reports whether it asked a question or changed anything.
func (s *Scheduler) nextAsk() bool {
	if s.flow == states.FlowSuspending { // when the run resumes, the records tell what to ask
		return false
	}
	for s.hasAsks() {
		q := s.firstAsk()
		if !s.matters(&q) {
			s.dropMessage(&q, true)
			continue
		}
		if q.left {
			if s.starved(q.scope) {
				s.endScope(q.scope, impossible(q.scope.Path, "dropped all there was to wait for"))
				return true
			}
			continue
		}
		if s.mustWait(&q) && q.cause.Call { // the caller asks again
			continue
		}
		if s.mustWait(&q) {
			q.scope.held = append(q.scope.held, q)
			continue
		}
		s.growth.asking, s.growth.asked = q, true
		if q.undo {
			s.emit(Command{Op: AskUndo, Scope: q.scope, Detail: &Detail{Part: q.scope.part()}})
			return true
		}
		if q.cause.Kind == grow.Continue {
			q.cause.Note = q.scope.Rec.Result
		}
		q.note()
		c := Command{Op: AskLanguage, Scope: q.scope, Detail: &Detail{Cause: &q.cause}}
		if q.node != nil {
			c.Unit = &q.node.Unit
		}
		s.emit(c)
		return true
	}
	s.growth.asks = nil
	return false
}

// dropMessage deletes the message that a question was about from the inbox. Unasked means that the language was not
// asked the question.
func (s *Scheduler) dropMessage(q *ask, unasked bool) {
	if q.message > 0 {
		s.emit(Command{Op: CommandApplied, Detail: &Detail{
			OperatorCommand: &OperatorCommand{N: q.message, Dropped: unasked},
		}})
	}
}
