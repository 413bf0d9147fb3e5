package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// endingSentences describe how a run ended.
func endingSentences(w *Diagnosis) []string {
	run := &w.Run
	if w.Last != nil {
		return []string{w.Last.sentence()}
	}
	if !run.State.Ended() || run.Failure == nil {
		return nil
	}
	switch run.Outcome {
	case storage.Cancelled:
		did := "It was cancelled"
		if run.Failure.Code == atom.CodeReverted {
			did = "It was reverted"
		}
		if text := run.Failure.Message; text != "" {
			did += ": " + visible.Line(text)
		}
		return []string{did + "."}
	case storage.TimedOut:
		return []string{"Its time was up: " + Cause(run.Failure) + "."}
	default:
	}
	if len(w.Failed) == 0 {
		at := run.Failure.Atom
		if slices.Contains(w.Undo.Stuck.First, at) { // its undo failed there, which other sentences describe
			var list []string
			for _, cause := range w.Causes {
				list = append(list, fmt.Sprintf("It was undone because %s failed%s.", visible.Line(cause.Atom), causeOf(cause)))
			}
			return list
		}
		text := "It failed"
		if at != "" {
			text += " at " + visible.Line(at)
		}
		text += ": " + Cause(run.Failure) + "."
		if run.Failure.EndsRun() {
			text += " Ebb ended the run; no retrier and no catcher is asked about this failure."
		}
		return []string{text}
	}
	var list []string
	for i := range w.Failed {
		f := &w.Failed[i]
		failure := run.Failure
		if f.Failure != nil {
			failure = &atom.Failure{Code: f.Failure.Code, Message: f.Failure.Message}
		}
		text := fmt.Sprintf("The %s state %s failed", f.Type, visible.Line(f.Path))
		if f.Type == kindOfSM4C {
			text = fmt.Sprintf("The state %s failed", visible.Line(f.Path))
		}
		if i > 0 {
			text += " with it"
		} else {
			text += causeOf(failure)
		}
		if f.Attempts > 1 {
			text += fmt.Sprintf(", at attempt %d", f.Attempts)
		}
		list = append(list, text+"."+unhandled(f, failure.Code))
	}
	return list
}

// causeOf returns what follows the words that something failed.
func causeOf(f *atom.Failure) string {
	if cause := Cause(f); cause != "" {
		return ": " + cause
	}
	return " without an error"
}

// kindOfSM4C is sm4c.KindState, the kind of all states of that language.
const kindOfSM4C = "State"

// unhandled says why no retrier and no catcher of a state applied.
func unhandled(f *FailedState, code string) string {
	if f.Type != "Task" && f.Type != "Parallel" && f.Type != "Map" {
		return ""
	}
	text := ""
	if len(f.Retries) > 0 && f.Attempts <= 1 {
		text = fmt.Sprintf(" None of its retriers applied (%s).", errorLists(f.Retries))
	}
	if len(f.Catches) == 0 {
		return text + " It has no catcher."
	}
	if code == "" {
		code = "the error"
	}
	return text + fmt.Sprintf(" None of its catchers matches %s (%s).", visible.Line(code), errorLists(f.Catches))
}

func errorLists(lists [][]string) string {
	parts := make([]string, len(lists))
	for i, names := range lists {
		parts[i] = strings.Join(names, ", ")
	}
	return visible.Line(strings.Join(parts, "; "))
}
