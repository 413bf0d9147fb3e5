package atom

// NoEffect declares that executing the task changes nothing outside the run: it only computes, reads, or waits. So
// there is nothing to undo, and no view says that the task *stays done*. Without NoEffect, Ebb assumes that a task has
// an effect. The tasks of [Awaits], [Map] and [Reduce] have none. flow.Compile reports a task that has a Revert, too.
func NoEffect() Option { return func(a *Atom) { a.noEffect = true } }

// StaysDone reports whether the work of the atom stays done when the run is undone. This holds for a task without
// Revert that may have an effect, see [NoEffect].
func (a *Atom) StaysDone() bool {
	return a.kind == KindTask && a.body != nil && !a.noEffect && !a.body.Reverts()
}

// Unknown reports whether an attempt that failed in this way may have had its effect nevertheless: Ebb gave the attempt
// up, or its process died, before the attempt reported its end, or its result was refused. An attempt that is Untaken
// had none.
func (f *Failure) Unknown() bool {
	if f.Untaken {
		return false
	}
	switch f.Code {
	case CodeTimeout, CodeCancelled, CodeHeartbeatLost, CodeStartToClose, CodeLost, CodeBadResult:
		return true
	default:
		return false
	}
}

// LeavesUnknown reports whether an attempt that failed in this way may have left something done. The failure of a child
// run does not tell what was done in that run before, unless it is Untaken. f may be nil, if the reason is not known.
func (f *Failure) LeavesUnknown(childRun bool) bool {
	return f == nil || f.Unknown() || childRun && !f.Untaken
}

// UntakenAt reports whether f is the failure of the task at path itself, and that task was not called. Then there is
// nothing to undo. A failure that something around the task passes on says nothing about that.
func (f *Failure) UntakenAt(path string) bool { return f != nil && f.Untaken && f.Atom == path }
