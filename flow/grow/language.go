package grow

import "github.com/ebbflow/ebb/atom"

// A Language decides how a flow grows while it runs. The engine asks it once for
// each [Cause]. The language answers with a [Growth], which the engine commits
// before any effect depends on it. The engine never repeats a question that was
// answered. So a changed language, random numbers or the time cannot change the
// decisions that a run has made.
//
// A Language is a pure value: it does no I/O, reads no clock and starts no
// goroutine. Between calls it keeps no state except in memories and notes. Any
// number of goroutines may ask it at once.
type Language interface {
	// Grow answers one cause. The run does nothing else meanwhile. A language that
	// computes for longer must answer with [Growth.More], or call [Ask.Interrupted]
	// now and then. Between two answers, and at each such call, the run handles
	// commands and stop requests. If an answer ignores them for as long as
	// engine.WithGrace says, the engine gives it up. A panic is the failure of the
	// flow that was asked. If the process dies before the answer is committed, the
	// engine asks the same question again.
	Grow(ask *Ask) Growth
	// Undo returns the input of the task that undoes a node, which has run or may
	// have run. It is asked before each attempt of the undo. An error, or a panic,
	// is the failure of that attempt.
	Undo(ask *UndoAsk) (atom.Value, error)
}

// Numbering is a [Language] that never gives two nodes of a flow the same name, as it
// numbers those that recur. So the engine need not check the names.
type Numbering interface {
	Language
	// NumbersNodes marks the language and is not called.
	NumbersNodes()
}

// A TaskLanguage is a [Language] that has tasks of its own beside those of the engine.
type TaskLanguage interface {
	Language
	// Task returns the body of the task of that name, see [Spec]; false if it is a task of the engine.
	Task(name string) (atom.Body, bool)
}
