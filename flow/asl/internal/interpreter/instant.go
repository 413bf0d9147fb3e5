package interpreter

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// progress is how far an interpreter has gone through the levels of a state.
type progress struct {
	group   *Shared
	count   int    // of the levels
	done    int    // so many of them have ended well
	results []byte // theirs, as the elements of an array
}

// through goes through the levels that are left, in the next answer where this one has
// gone far enough.
func (w *Interpreter) through(p *progress) (Step, *stateerror.Error) {
	p.group.Outer = w.Visible()
	for ; p.done < p.count && len(p.results) <= data.MaxPayload; p.done++ {
		if w.budget <= 0 {
			w.paused, w.growth.More = false, w.between(p)
			return Step{Waits: true}, nil
		}
		end, err := w.level(p)
		if err != nil {
			return Step{}, &stateerror.Error{Name: atom.CodeLanguage, Cause: err.Error()}
		}
		if end.Failure != nil {
			return Step{}, w.levelFailed(end.Failure, nil)
		}
		p.results = append(data.Separated(p.results, p.done), end.Value.JSON()...)
	}
	return w.levelsEnded(data.Text(atom.FromJSON(slices.Concat([]byte{'['}, p.results, []byte{']'}))))
}

// level goes through the next level and returns how it ended.
func (w *Interpreter) level(p *progress) (*flow.End, error) {
	ask := *w.Ask
	ask.Index, ask.Memory = p.done, nil
	in := NewInterpreter(w.Machine, &ask)
	in.Group, in.vars, in.visits, in.Steps, in.budget = p.group, map[string]*data.Value{}, map[string]int{}, w.Steps, syntax.MaxInstant+1
	in.attrs, in.runInput, in.drawn = w.attrs, w.runInput, w.drawn
	in.growth.Events, in.told = w.growth.Events, w.told
	err := in.beginChild()
	w.growth.Events, w.told, w.last = in.growth.Events, in.told, in.last
	w.attrs, w.runInput, w.drawn = in.attrs, in.runInput, in.drawn
	w.budget -= syntax.MaxInstant + 1 - in.budget
	return in.growth.End, err
}

// between returns what the interpreter has to remember to go on with the next level.
func (w *Interpreter) between(p *progress) atom.Value {
	n := w.noted(true)
	n.through = p
	return n.encode()
}

func (p *progress) encode() []byte {
	w := jsontext.NewWriter()
	w.Int("c", int64(p.count))
	w.Int("d", int64(p.done))
	group := *p.group
	group.Outer = nil // it is the level's, which remembers it
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
