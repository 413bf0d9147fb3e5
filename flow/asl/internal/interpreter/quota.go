package interpreter

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
)

// AWS's quotas of one execution. They hold for executions that are started with Attributes.Limited.
const (
	// MaxEvents is how many events the history of a Standard execution has at most.
	//
	//limit:asl events of a Standard execution of `ebb serve`, or with `asl.Attributes.Limited` (`asl.MaxEvents`) | {} |
	//limit:and `States.Runtime`
	MaxEvents = 25_000

	//limit:asl time of a Standard execution of `ebb serve`, or with `asl.Attributes.Limited`; of an Express one |
	//limit:and {}; {longestExpress} | times out
	longestStandard = 365 * 24 * time.Hour
	longestExpress  = 5 * time.Minute
)

var tooManyEvents = fmt.Sprintf("The execution reached the maximum number of history events (%d).", MaxEvents)

// exceededEvents reports whether an execution failed because its history is full, so that it cannot be redriven.
func exceededEvents(f *atom.Failure) bool {
	return f != nil && f.Code == stateerror.Runtime && f.Message == tooManyEvents
}

// timeout returns how long the run may take; 0 means without limit.
func (w *Interpreter) timeout(l *syntax.Level) time.Duration {
	a := w.attributes()
	longest := longestStandard
	if a.Express {
		longest = longestExpress
	}
	if a.Limited && (l.Timeout == 0 || l.Timeout > longest) {
		return longest
	}
	return l.Timeout
}

// bound ends an execution whose history would have too many events. As on AWS, the last of them is the end of the
// execution.
func (w *Interpreter) bound() {
	over := w.Ask.Event + w.told - 1 - MaxEvents // events beyond the last one
	ends := w.Ask.Index < 0 && (w.growth.End != nil || w.Ask.Cause.Kind == grow.Stopped)
	if over < 0 || over == 0 && ends {
		return
	}
	if a := w.attributes(); !a.Limited || a.Express {
		return
	}
	before := max(0, MaxEvents-w.Ask.Event) // events of this answer before the last one
	f := &stateerror.Error{Name: stateerror.Runtime, Cause: tooManyEvents}
	answer := w.growth
	w.growth = grow.Growth{Events: answer.Events[:min(before, int64(len(answer.Events)))], Steps: answer.Steps}
	w.told = before
	w.last = w.Ask.Event + before - 1
	switch w.changed = false; {
	case w.Ask.Index >= 0:
		w.growth.End = &grow.End{Failure: f.Failure(), Note: w.endNote()}
	case w.Ask.Cause.Kind == grow.Stopped || w.Ask.Cause.Kind == grow.Overdue:
		last := answer.Events[len(answer.Events)-1]
		w.growth.End = answer.End
		w.record(last)
	default:
		w.growth.End = &grow.End{Failure: f.Failure()}
		w.record(grow.Event{Type: "ExecutionFailed", Details: errorDetails(f)})
	}
}
