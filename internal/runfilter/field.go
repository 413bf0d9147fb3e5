package runfilter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/spelling"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A field is what a term may ask of a run.
type field struct {
	name  string
	read  func(text lexeme) (value, error)
	write func(*value) string
	holds func(v *value, run *storage.Run, now time.Time) bool // nil if a run's record does not say it
}

var fields = []*field{
	textField("flow", func(run *storage.Run) string { return run.Flow }),
	textField("id", func(run *storage.Run) string { return run.ID }),
	textField("parent", func(run *storage.Run) string { return run.Parent }),
	textField("definition", func(run *storage.Run) string { return run.Definition }),
	textField("code", codeOf),
	wordField("state", stateNames(), func(run *storage.Run, word string) bool {
		return run.State.String() == word
	}),
	wordField("outcome", outcomes, func(run *storage.Run, word string) bool { return outcomes[run.Outcome] == word }),
	wordField("undo", undos, func(run *storage.Run, word string) bool { return undos[run.Undo] == word }),
	wordField("is", kinds, is),
	{labelField, readLabel, writeLabel, hasLabel},
	{waitsField, readWait, writeLabel, nil},
	timeField("created", func(run *storage.Run) time.Time { return run.Created }),
	timeField("ended", func(run *storage.Run) time.Time { return run.Ended }),
}

// outcomes and undos are the texts of a [storage.Outcome] and of a [storage.Undone], by their numbers. They are those
// of inspect.Run.
var (
	outcomes = []string{"unfinished", "succeeded", "failed", "timed_out", "cancelled", "continued"}
	undos    = []string{"none", "undone", "partly", "failed"}
	kinds    = []string{"top", "person", "open", "ended"}
)

// stateNames returns the texts of all states.
func stateNames() (texts []string) {
	for s := range states.FlowResuming + 1 {
		texts = append(texts, s.String())
	}
	return texts
}

func codeOf(run *storage.Run) string {
	if run.Failure == nil {
		return ""
	}
	return run.Failure.Code
}

func is(run *storage.Run, word string) bool {
	switch word {
	case "top":
		return run.Parent == ""
	case "person":
		return run.NeedsPerson()
	case "open":
		return !run.State.Ended()
	default:
		return run.State.Ended()
	}
}

// textField returns a field whose values are texts, or beginnings of texts.
func textField(name string, of func(*storage.Run) string) *field {
	return &field{
		name: name,
		read: func(text lexeme) (value, error) {
			var v value
			v.text, v.prefix = text.pattern()
			if v.text == "" && !v.prefix {
				return v, fmt.Errorf("%s has no value: write %[1]s:TEXT, or %[1]s:* for any", name)
			}
			return v, nil
		},
		write: func(v *value) string { return quote(v.text, v.prefix) },
		holds: func(v *value, run *storage.Run, _ time.Time) bool {
			text := of(run)
			return text != "" && v.matches(text)
		},
	}
}

// matches reports whether the text is that of the value, or begins so.
func (v *value) matches(text string) bool {
	return text == v.text || v.prefix && strings.HasPrefix(text, v.text)
}

// wordField returns a field whose values are some words.
func wordField(name string, all []string, holds func(run *storage.Run, word string) bool) *field {
	return &field{
		name: name,
		read: func(text lexeme) (value, error) {
			given := text.String()
			at := slices.IndexFunc(all, func(word string) bool { return strings.EqualFold(word, given) })
			if at < 0 {
				return value{}, fmt.Errorf("%s:%.50s is not known%s", name, given, meant(given, all))
			}
			return value{text: all[at]}, nil
		},
		write: func(v *value) string { return v.text },
		holds: func(v *value, run *storage.Run, _ time.Time) bool { return holds(run, v.text) },
	}
}

// meant returns the end of a sentence about a word that is not one of all.
func meant(given string, all []string) string {
	for _, one := range []string{given, strings.ToUpper(given), strings.ToLower(given)} {
		if near := spelling.Nearest(one, all); near != "" {
			return ": did you mean " + near + "?"
		}
	}
	return ": want " + strings.Join(all, ", ")
}

// labelField is the field of labels.
const labelField = "label"

func readLabel(text lexeme) (v value, err error) {
	key, rest, found := text.cut('=')
	if v.key, v.bare = key.String(), !found; v.key == "" {
		return v, errors.New("label has no key: write label:KEY=VALUE, or label:KEY for any value")
	}
	v.text, v.prefix = rest.pattern()
	return v, nil
}

func writeLabel(v *value) string {
	if v.bare {
		return quote(v.key, false)
	}
	text := quote(v.key, false) + `=`
	if v.text == "" && !v.prefix {
		return text
	}
	return text + quote(v.text, v.prefix)
}

func hasLabel(v *value, run *storage.Run, _ time.Time) bool {
	text, has := run.Labels[v.key]
	return has && (v.bare || v.matches(text))
}
