package interpreter

import (
	"encoding/json"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// What each type of state does when it is entered, and when its wait ends.

func (w *Interpreter) pass() (Step, *stateerror.Error) {
	result, f := w.Effective()
	if f != nil {
		return Step{}, f
	}
	if w.State.Result != nil {
		result = w.State.Result
	}
	return w.Leave(&w.State.Out, result)
}

func (w *Interpreter) choose() (Step, *stateerror.Error) {
	s := w.State
	v, f := w.seen()
	if f != nil {
		return Step{}, f
	}
	for i := range s.Choices {
		ok, f := s.Choices[i].Test(v)
		if f != nil {
			return Step{}, f
		}
		if ok {
			w.Machine.Through(s.Choices[i])
			return w.Leave(&s.Choices[i].Out, v.Input)
		}
	}
	if s.Out.Next == nil {
		f := stateerror.Localf(w.Rules().ChoiceFailure,
			"Failed to transition out of the state. The state does not point to a next state.")
		f.Also = stateerror.NoChoiceMatched
		return Step{}, f
	}
	w.Machine.Through(&s.Out)
	return w.Leave(&s.Out, v.Input)
}

// failing returns the error of a Fail state.
func (w *Interpreter) failing() *stateerror.Error {
	spec := w.State.Failure
	name, f := w.failText(&spec.Err, "ErrorPath")
	if f != nil {
		return f
	}
	cause, f := w.failText(&spec.Cause, "CausePath")
	if f != nil {
		return f
	}
	out := &stateerror.Error{Bare: name == nil}
	if name != nil {
		out.Name = stateerror.ClipName(*name)
	}
	if cause != nil {
		out.Cause = clip.Text(*cause, stateerror.MaxShown)
	}
	return out
}

func (w *Interpreter) failText(of *syntax.Message, field string) (*string, *stateerror.Error) {
	if of.Given == nil {
		return of.Text, nil
	}
	value, f := of.Given.Evaluate(w.View(w.Input))
	if f != nil {
		return nil, f
	}
	text, ok := value.(string)
	if !ok {
		return nil, stateerror.Runtimef("The %s field must evaluate to a string, found %s", field, data.Tree(value).Encoded())
	}
	return &text, nil
}

// wait adds a timer, unless its time has passed.
func (w *Interpreter) wait() (Step, *stateerror.Error) {
	due, f := w.due()
	if f != nil {
		return Step{}, f
	}
	if due.Sub(w.Ask.Now) > longestWait {
		return Step{}, stateerror.Runtimef("Wait state delay is too long.")
	}
	if !due.After(w.Ask.Now) {
		return w.Waited()
	}
	w.growth.Add = append(w.growth.Add, grow.Spec{Name: w.visitName(), Kind: grow.Timer, Due: due, Note: w.note(true)})
	return Step{Waits: true}, nil
}

// longestWait is 2^31-1 seconds.
const longestWait = (1<<31 - 1) * time.Second

// due returns when a Wait state ends.
func (w *Interpreter) due() (time.Time, *stateerror.Error) {
	spec := w.State.Wait
	v, f := w.seen()
	if f != nil {
		return time.Time{}, f
	}
	switch {
	case spec.Seconds.Query != nil:
		n, f := spec.Seconds.Query.Whole(v, 0, syntax.MaxSeconds)
		return w.Ask.Now.Add(time.Duration(n) * time.Second), f
	case spec.Timestamp.Query != nil:
		value, f := spec.Timestamp.Query.Typed(v, jsonata.String)
		if f != nil {
			return time.Time{}, f
		}
		at, ok := expression.ParseTimestamp(value.Text())
		if !ok {
			f = expression.QueryErrorf(&spec.Timestamp.Query.At,
				"The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: %s", value.Text())
			f.Follows = true
		}
		return at, f
	case spec.Seconds.Path != nil:
		n, f := secondsAt(v, spec.Seconds.Path, "SecondsPath")
		if f != nil {
			return time.Time{}, f
		}
		return w.Ask.Now.Add(time.Duration(n) * time.Second), nil
	case spec.Timestamp.Path != nil:
		value, found, f := v.Get(spec.Timestamp.Path)
		if f != nil {
			return time.Time{}, f
		}
		if !found {
			return time.Time{}, stateerror.Runtimef("The TimestampPath parameter does not reference an input value: %s",
				spec.Timestamp.Path.Text())
		}
		at, ok := expression.TimestampIn(value)
		if !ok {
			return time.Time{}, stateerror.Runtimef("The TimestampPath parameter does not reference a valid ISO-8601 "+
				"extended offset date-time format string: %s == %s",
				spec.Timestamp.Path.Text(), expression.Plain(value))
		}
		return at, nil
	case spec.Timestamp.At.IsZero():
		return w.Ask.Now.Add(time.Duration(spec.Seconds.Fixed) * time.Second), nil
	}
	return spec.Timestamp.At, nil
}

// secondsAt returns the number of seconds that a path names.
func secondsAt(v *expression.View, path *jsonpath.Path, field string) (int64, *stateerror.Error) {
	value, found, f := v.Get(path)
	if f != nil {
		return 0, f
	}
	if !found {
		return 0, stateerror.Runtimef("The %s parameter does not reference an input value: %s", field, path.Text())
	}
	number, ok := value.(json.Number)
	n, whole := int64(0), false
	if ok {
		n, whole = expression.WholeNumber(string(number))
	}
	switch {
	case !whole:
		return 0, stateerror.Runtimef("The %s parameter cannot be parsed as a long value: %s == %s", field, path.Text(),
			expression.Plain(value))
	case n < 0:
		return 0, stateerror.Runtimef("The %s parameter references a negative value: %s == %d", field, path.Text(), n)
	case time.Duration(n) > longestWait/time.Second:
		return 0, stateerror.Runtimef("Wait state delay is too long.")
	}
	return n, nil
}

// Waited ends a state that passes on its input.
func (w *Interpreter) Waited() (Step, *stateerror.Error) {
	v, f := w.seen()
	if f != nil {
		return Step{}, f
	}
	return w.Leave(&w.State.Out, v.Input)
}
