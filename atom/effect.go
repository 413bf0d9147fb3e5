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

// Unknown reports whether an attempt that failed so may have had its effect all the same: Ebb gave the attempt up,
// or its process died, before the attempt said how it ended.
func (f *Failure) Unknown() bool {
	switch f.Code {
	case CodeTimeout, CodeCancelled, CodeHeartbeatLost, CodeStartToClose, CodeLost:
		return true
	default:
		return false
	}
}
