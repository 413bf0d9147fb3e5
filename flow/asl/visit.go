package asl

import (
	"encoding/json"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// What each type of state does when it is entered, and when what it waited for
// has come.

func (w *interpreter) pass() (step, *stateError) {
	result, f := w.effective()
	if f != nil {
		return step{}, f
	}
	if w.state.result != nil {
		result = w.state.result
	}
	return w.leave(&w.state.out, result)
}

func (w *interpreter) choose() (step, *stateError) {
	s := w.state
	v, f := w.seen()
	if f != nil {
		return step{}, f
	}
	for i := range s.choices {
		ok, f := s.choices[i].test.holds(v)
		if f != nil {
			return step{}, f
		}
		if ok {
			return w.leave(&s.choices[i].out, v.input)
		}
	}
	if s.out.next == nil {
		f := localError(profiles[w.machine.profile].choiceFailure, "Failed to transition out of the state. The state does not point to a next state.")
		f.also = statesNoChoiceMatched
		return step{}, f
	}
	return w.leave(&s.out, v.input)
}

// failing returns the error that a Fail state is.
func (w *interpreter) failing() *stateError {
	spec := w.state.failure
	name, f := w.failText(&spec.err, "ErrorPath")
	if f != nil {
		return f
	}
	cause, f := w.failText(&spec.cause, "CausePath")
	if f != nil {
		return f
	}
	out := &stateError{bare: name == nil}
	if name != nil {
		out.name = clipName(*name)
	}
	if cause != nil {
		out.cause = clip.Text(*cause, maxShown)
	}
	return out
}

func (w *interpreter) failText(of *message, field string) (*string, *stateError) {
	if of.given == nil {
		return of.text, nil
	}
	value, f := of.given.evaluate(w.view(w.input))
	if f != nil {
		return nil, f
	}
	text, ok := value.(string)
	if !ok {
		return nil, runtimeError("The %s field must evaluate to a string, found %s", field, treeValue(value).encoded())
	}
	return &text, nil
}

// wait adds a timer, unless its time has come already.
func (w *interpreter) wait() (step, *stateError) {
	due, f := w.due()
	if f != nil {
		return step{}, f
	}
	if due.Sub(w.ask.Now) > longestWait {
		return step{}, runtimeError("Wait state delay is too long.")
	}
	if !due.After(w.ask.Now) {
		return w.waited()
	}
	w.growth.Add = append(w.growth.Add, flow.Spec{Name: w.visitName(), Kind: flow.Timer, Due: due, Note: w.note(true)})
	return step{waits: true}, nil
}

// longestWait is 2^31-1 seconds.
const longestWait = (1<<31 - 1) * time.Second

// due returns when a Wait state ends.
func (w *interpreter) due() (time.Time, *stateError) {
	spec := w.state.wait
	v, f := w.seen()
	if f != nil {
		return time.Time{}, f
	}
	switch {
	case spec.seconds.query != nil:
		n, f := spec.seconds.query.whole(v, 0, maxSeconds)
		return w.ask.Now.Add(time.Duration(n) * time.Second), f
	case spec.timestamp.query != nil:
		value, f := spec.timestamp.query.typed(v, jsonata.String)
		if f != nil {
			return time.Time{}, f
		}
		at, ok := parseTimestamp(value.Text())
		if !ok {
			f = queryError(&spec.timestamp.query.at, "The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: %s", value.Text())
			f.follows = true
		}
		return at, f
	case spec.seconds.path != nil:
		n, f := v.secondsAt(spec.seconds.path, "SecondsPath")
		if f != nil {
			return time.Time{}, f
		}
		return w.ask.Now.Add(time.Duration(n) * time.Second), nil
	case spec.timestamp.path != nil:
		value, found, f := v.get(spec.timestamp.path)
		if f != nil {
			return time.Time{}, f
		}
		if !found {
			return time.Time{}, runtimeError("The TimestampPath parameter does not reference an input value: %s", spec.timestamp.path.Text())
		}
		at, ok := timestampIn(value)
		if !ok {
			return time.Time{}, runtimeError("The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: %s == %s",
				spec.timestamp.path.Text(), plain(value))
		}
		return at, nil
	case spec.timestamp.at.IsZero():
		return w.ask.Now.Add(time.Duration(spec.seconds.fixed) * time.Second), nil
	}
	return spec.timestamp.at, nil
}

// secondsAt returns the number of seconds that a path names.
func (v *view) secondsAt(path *jsonpath.Path, field string) (int64, *stateError) {
	value, found, f := v.get(path)
	if f != nil {
		return 0, f
	}
	if !found {
		return 0, runtimeError("The %s parameter does not reference an input value: %s", field, path.Text())
	}
	number, ok := value.(json.Number)
	n, whole := int64(0), false
	if ok {
		n, whole = wholeNumber(string(number))
	}
	switch {
	case !whole:
		return 0, runtimeError("The %s parameter cannot be parsed as a long value: %s == %s", field, path.Text(), plain(value))
	case n < 0:
		return 0, runtimeError("The %s parameter references a negative value: %s == %d", field, path.Text(), n)
	case time.Duration(n) > longestWait/time.Second:
		return 0, runtimeError("Wait state delay is too long.")
	}
	return n, nil
}

// waited is the end of a state that hands on its input.
func (w *interpreter) waited() (step, *stateError) {
	v, f := w.seen()
	if f != nil {
		return step{}, f
	}
	return w.leave(&w.state.out, v.input)
}
