package asl

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Parallel or Map state whose levels only compute, and come to their end in few
// steps, only computes, too: the interpreter that enters it goes through them all, with no
// node for it and none for its levels. The history is the same.

// maxInstant is how many states a level may have that is gone through at once: an
// answer can stop between two levels, and not within one.
const maxInstant = 20

// instant reports whether a state's levels are gone through at once: what is in them
// takes no time, is left for good, and has no query, which could count many steps.
func (s *state) instant() bool {
	return s.language == inJSONPath && (s.items == nil || s.items.distributed == nil) &&
		!slices.ContainsFunc(s.within(), func(l *level) bool { return len(l.names) > maxInstant }) &&
		!some(s.within(), func(s *state) bool {
			return s.kind != passState && s.kind != choiceState && s.kind != succeedState && s.kind != failState || s.repeats || s.language != inJSONPath
		})
}

// progress is how far an interpreter has gone through the levels of a state.
type progress struct {
	group   *shared
	count   int    // of the levels
	done    int    // so many of them have ended well
	results []byte // theirs, as the elements of an array
}

// through goes through the levels that are left, in the next answer where this one has
// gone far enough.
func (w *interpreter) through(p *progress) (step, *stateError) {
	p.group.outer = w.visible()
	for ; p.done < p.count && len(p.results) <= MaxPayload; p.done++ {
		if w.budget <= 0 {
			w.paused, w.growth.More = false, w.between(p)
			return step{waits: true}, nil
		}
		end, err := w.level(p)
		if err != nil {
			return step{}, &stateError{name: atom.CodeLanguage, cause: err.Error()}
		}
		if end.Failure != nil {
			return step{}, w.levelFailed(end.Failure, nil)
		}
		p.results = append(separated(p.results, p.done), end.Value.JSON()...)
	}
	return w.levelsEnded(textValue(atom.FromJSON(slices.Concat([]byte{'['}, p.results, []byte{']'}))))
}

// level goes through the next level and returns how it ended.
func (w *interpreter) level(p *progress) (*flow.End, error) {
	ask := *w.ask
	ask.Index, ask.Memory = p.done, nil
	in := &interpreter{
		machine: w.machine, ask: &ask, group: p.group, vars: map[string]*jsonValue{}, visits: map[string]int{}, steps: w.steps, budget: maxInstant + 1,
		attrs: w.attrs, runInput: w.runInput, drawn: w.drawn,
	}
	in.growth.Events, in.told = w.growth.Events, w.told
	err := in.beginChild()
	w.growth.Events, w.told, w.last = in.growth.Events, in.told, in.last
	w.attrs, w.runInput, w.drawn = in.attrs, in.runInput, in.drawn
	w.budget -= maxInstant + 1 - in.budget
	return in.growth.End, err
}

// between returns what the interpreter has to remember to go on with the next level.
func (w *interpreter) between(p *progress) atom.Value {
	n := w.noted(true)
	n.through = p
	return n.encode()
}

func (p *progress) encode() []byte {
	w := jsontext.NewWriter()
	w.Int("c", int64(p.count))
	w.Int("d", int64(p.done))
	group := *p.group
	group.outer = nil // it is the level's, which remembers it
	w.Raw("g", group.encode().JSON())
	w.Raw("r", slices.Concat([]byte{'['}, p.results, []byte{']'}))
	return w.Bytes()
}

func readProgress(r *jsontext.Reader) (*progress, error) {
	p := &progress{}
	err := r.Members(func(name string) (err error) {
		var n int64
		switch name {
		case "c":
			n, err = r.Int()
			p.count = int(n)
		case "d":
			n, err = r.Int()
			p.done = int(n)
		case "g":
			p.group, err = readShared(atom.FromJSON(r.Skip()))
		case "r":
			results := r.Skip()
			p.results = slices.Clone(results[1 : len(results)-1])
		default:
			r.Skip()
		}
		return err
	})
	return p, err
}
