package saga

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

const maxName = 80 // characters of a state's name, as AWS limits them

type object = jsontext.OrderedMap

// A Note says what the plain machine does otherwise, or why there is none.
type Note struct {
	State string // "" if it is about the whole machine
	Text  string
}

// A writer writes the plain form of one machine.
type writer struct {
	prefix  string          // of the names of its variables
	jsonata bool            // the QueryLanguage of the machine is JSONata
	names   map[string]bool // the names of states that are taken
	levels  int
	reverts []revert // in the order of the text

	refused, notes []Note
}

// A revert is what undoes a Task.
type revert struct {
	state   string
	jsonata bool
	by      *object // the Task that undoes it
}

// Write returns the plain form of a legal machine, notes on what it does otherwise, and what has no plain form. If
// there is any of the latter, there is no plain machine.
func Write(root *jsontext.Node) (text []byte, notes, refused []Note) {
	machine, _ := root.Tree().(*object)
	w := &writer{prefix: "ebb", jsonata: languageOf(machine) == jsonata, names: map[string]bool{}}
	for everything := string(encode(machine)); strings.Contains(everything, w.prefix); {
		w.prefix += "_"
	}
	w.take(machine)
	if !undoes(machine) {
		w.notef("", "nothing in the machine is undone")
		return encode(stripped(machine)), w.notes, nil
	}
	w.notef("", "AWS undoes nothing if the execution is stopped, or ends by TimeoutSeconds")
	w.notef("", "what was done is kept in variables, of which AWS takes 256 KiB each and 10 MiB together")
	w.notef("", "nothing is undone if a Pass, Choice, Wait or Succeed state fails by itself: none has a Catch")
	w.notef("", "nothing is undone after States.Runtime or States.DataLimitExceeded, which no Catch of AWS handles")
	out := w.level(machine, false)
	return encode(out), w.notes, w.refused
}

func (w *writer) notef(state, format string, args ...any) {
	w.notes = with(w.notes, Note{state, fmt.Sprintf(format, args...)})
}

func (w *writer) refusef(state, format string, args ...any) {
	w.refused = with(w.refused, Note{state, fmt.Sprintf(format, args...)})
}

// with adds a note that is not there.
func with(notes []Note, n Note) []Note {
	if slices.Contains(notes, n) {
		return notes
	}
	return append(notes, n)
}

// take reserves the names of all states, and notes the resources that AWS does not have.
func (w *writer) take(level *object) {
	for name, state := range statesOf(level) {
		w.names[name] = true
		by, _ := state.Get("Revert")
		for _, resource := range []string{text(state, "Resource"), text(revertOf(by), "Resource")} {
			if resource != "" && !strings.HasPrefix(resource, "arn:") && !strings.HasPrefix(resource, "${") {
				w.notef(name, "AWS has no resource %s: name a Lambda function, an activity or a service", resource)
			}
		}
		for _, inner := range levelsOf(state) {
			w.take(inner)
		}
	}
}

// fresh returns a name for a new state.
func (w *writer) fresh(name string) string {
	for n := 1; ; n++ {
		end := ""
		if n > 1 {
			end = fmt.Sprintf(" %d", n)
		}
		runes := []rune(name)
		fresh := string(runes[:min(len(runes), maxName-len(end))]) + end
		if !w.names[fresh] {
			w.names[fresh] = true
			return fresh
		}
	}
}

// levelsOf returns the levels inside a state.
func levelsOf(state *object) []*object {
	var inner []*object
	inside(state, func(level *object) *object {
		inner = append(inner, level)
		return level
	})
	return inner
}

// undoes reports whether a Task in a level has something that undoes it.
func undoes(level *object) bool {
	for _, state := range statesOf(level) {
		if by, _ := state.Get("Revert"); revertOf(by) != nil {
			return true
		}
		if slices.ContainsFunc(levelsOf(state), undoes) {
			return true
		}
	}
	return false
}

// revertOf returns what undoes a Task, as an object; nil if nothing does.
func revertOf(by any) *object {
	switch by := by.(type) {
	case *object:
		return by
	case string:
		if by != "none" {
			return jsontext.OrderedMapOf("Resource", by)
		}
	}
	return nil
}

// stripped returns a level, in which nothing is undone, without what names an undo.
func stripped(level *object) *object {
	states := jsontext.NewOrderedMap(0)
	for name, state := range statesOf(level) {
		s := except(state, "Revert")
		if catch := list(s, "Catch"); catch != nil {
			s.Set("Catch", mapped(catch, func(k *object) *object { return except(k, "Revert") }))
		}
		states.Set(name, inside(s, stripped))
	}
	return level.With("States", states)
}

// inside returns a state with other levels inside.
func inside(state *object, change func(level *object) *object) *object {
	out := state
	if branches := list(state, "Branches"); branches != nil {
		out = out.With("Branches", mapped(branches, change))
	}
	for _, name := range []string{"ItemProcessor", "Iterator"} {
		if processor := get(state, name); processor != nil {
			out = out.With(name, change(processor))
		}
	}
	return out
}
