package failat

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
)

// A script says what fails in a run. In the zero script, nothing fails.
type script struct {
	fault fault
	cut   int // the process dies after that point, counted from 1; 0 is never
}

// A fault is the failure of an atom. The zero fault is none.
type fault struct {
	path string // of the atom
	how  how
	code string // of the failure; "" is the default of how
	once bool   // only the first time
}

// how is the way in which an atom fails.
type how uint8

const (
	before        how = iota // returns an error, with nothing done
	after                    // returns an error, with its work done
	panics                   // panics, with its work done
	unknownBefore            // is given up, with nothing done
	unknownAfter             // is given up, with its work done
	refused                  // waits, and the answer is a failure
	unanswered               // waits, and no answer comes
)

// ways are all ways, in the order in which they are tried.
var ways = []how{before, after, panics, unknownBefore, unknownAfter}

var wayNames = [...]string{
	before: "before_effect", after: "after_effect", panics: "panic",
	unknownBefore: "unknown_before_effect", unknownAfter: "unknown_after_effect",
	refused: "refused", unanswered: "no_answer",
}

// ofAnswer reports whether the answer fails, and not the call.
func (h how) ofAnswer() bool { return h == refused || h == unanswered }

func (h how) works() bool { return h != before && h != unknownBefore }

// name is the name of the case.
func (f fault) name() string { return f.path + "/" + wayNames[f.how] + f.suffix() }

// group is the name that precedes the crashes of a run with this fault.
func (f fault) group() string { return f.path + "_fails" + f.suffix() + "/" }

func (f fault) suffix() string {
	text := ""
	if f.code != "" {
		text += "_" + f.code
	}
	if f.once {
		text += "_once"
	}
	return text
}

// err is the error of the atom.
func (f fault) err() error {
	code := f.code
	switch {
	case code != "":
	case f.how == unknownBefore || f.how == unknownAfter:
		code = atom.CodeTimeout
	default:
		code = atom.CodeError
	}
	return atom.Errorf(code, "enginetest lets %s fail", f.path)
}

// String describes the fault as a sentence.
func (f fault) String() string {
	var text string
	switch f.how {
	case before:
		text = "failed before it did anything"
	case after:
		text = "failed after it had done its work"
	case panics:
		text = "panicked after it had done its work"
	case unknownBefore:
		text = "was given up on, with nothing done"
	case refused:
		text = "was answered with a failure"
	case unanswered:
		text = "was not answered"
	case unknownAfter:
		text = "was given up on, with its work done"
	}
	if f.code != "" {
		text += " (" + f.code + ")"
	}
	if f.once {
		text += ", the first time"
	}
	return f.path + " " + text
}

// A point is a place in a run where its process may die: right after a commit, or right after the work of an atom,
// which then is not recorded.
type point struct {
	commit int   // number of the commit; 0 for a call
	call   *step // nil for a commit
}

// name is the name of the case in which the process dies at the point.
func (p point) name() string {
	switch {
	case p.call == nil && p.commit == 0:
		return "crash_before_commit_1"
	case p.call == nil:
		return fmt.Sprintf("crash_after_commit_%d", p.commit)
	case p.call.Revert:
		return "crash_after_undo_of_" + p.call.atom()
	default:
		return "crash_after_effect_of_" + p.call.atom()
	}
}

// String describes the point as the end of a sentence.
func (p point) String() string {
	switch {
	case p.call == nil && p.commit == 0:
		return "before its first commit"
	case p.call == nil:
		return fmt.Sprintf("after commit %d", p.commit)
	default:
		return fmt.Sprintf("after %s had ended, and before that was committed", p.call)
	}
}
