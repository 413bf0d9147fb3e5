package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// maxMocked is the highest attempt a mock may have an answer for.
//
//limit:command attempts that a mock answers | {}
const maxMocked = 10_000

// Mocks answer for states in place of their tasks. An answer depends on the state's name and on the number of the
// attempt within the visit. So a resumed run gets the same answers. Undoing a mocked state does nothing, because the
// state had no real effect.
type Mocks struct {
	states map[string]mock
}

// A mock is the answer of one state.
type mock struct {
	name    string // in MockedResponses
	answers []answer
}

type answer struct {
	value   atom.Value
	failure error // nil when value is the answer
}

// A MockFile is a mock file of Step Functions Local.
type MockFile struct {
	name string
	text mockText
}

// mockText is the file's form, as Step Functions Local reads it.
type mockText struct {
	StateMachines map[string]struct {
		TestCases map[string]map[string]string `json:"TestCases"`
	} `json:"StateMachines"`
	MockedResponses map[string]map[string]struct {
		Return json.RawMessage `json:"Return"`
		Throw  *struct {
			Error string `json:"Error"`
			Cause string `json:"Cause"`
		} `json:"Throw"`
	} `json:"MockedResponses"`
}

// ReadMockFile reads a mock file of Step Functions Local:
//
//	{"StateMachines": {"trip": {"TestCases": {"paid": {"Pay": "Paid"}}}},
//	 "MockedResponses": {"Paid": {
//	   "0":   {"Throw": {"Error": "Busy", "Cause": "try again"}},
//	   "1-2": {"Return": {"receipt": 7}}}}}
//
// The numbers are attempts of one visit of a state, from 0. Name stands for the file in messages.
func ReadMockFile(name string, text []byte) (*MockFile, error) {
	f := &MockFile{name: name}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f.text); err != nil {
		return nil, unreadable(name, text, decoder.InputOffset(), err)
	}
	return f, nil
}

// ParseMocks reads a mock file, and returns the mocks of one test case: see [MockFile.Mocks].
func ParseMocks(name string, text []byte, machine, testCase string) (*Mocks, error) {
	f, err := ReadMockFile(name, text)
	if err != nil {
		return nil, err
	}
	return f.Mocks(machine, testCase)
}

// Check returns all problems in the test cases of the file.
func (f *MockFile) Check() error {
	var problems []error
	for _, machine := range slices.Sorted(maps.Keys(f.text.StateMachines)) {
		for _, testCase := range slices.Sorted(maps.Keys(f.text.StateMachines[machine].TestCases)) {
			_, err := f.Mocks(machine, testCase)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Mocks returns the mocks of a test case. If the file has one machine, its name does not matter. If the machine has one
// case, testCase may be "". It reports all problems of the case at once.
func (f *MockFile) Mocks(machine, testCase string) (*Mocks, error) {
	name, file := f.name, &f.text
	m, ok := file.StateMachines[machine]
	if !ok && len(file.StateMachines) == 1 {
		for only := range maps.Values(file.StateMachines) {
			m, ok = only, true
		}
	}
	if !ok {
		return nil, fmt.Errorf("tasks: %s: StateMachines has no %q (it has %s)", name, machine, list(file.StateMachines))
	}
	chosen, ok := m.TestCases[testCase]
	if testCase == "" && len(m.TestCases) == 1 {
		for only := range maps.Values(m.TestCases) {
			chosen, ok = only, true
		}
	}
	if !ok {
		return nil, fmt.Errorf("tasks: %s: no test case %q (name one behind #: %s)", name, testCase, list(m.TestCases))
	}
	mocks, problems := file.responses(chosen)
	for i := range problems {
		problems[i] = fmt.Errorf("tasks: %s: %w", name, problems[i])
	}
	return mocks, errors.Join(problems...)
}

// responses returns the answers that a test case chooses.
func (file *mockText) responses(chosen map[string]string) (*Mocks, []error) {
	var problems []error
	mocks := &Mocks{states: make(map[string]mock, len(chosen))}
	for _, state := range slices.Sorted(maps.Keys(chosen)) {
		response := chosen[state]
		if _, ok := file.MockedResponses[response]; !ok {
			problems = append(problems,
				fmt.Errorf("the state %q is to answer %q, which MockedResponses does not have (it has %s)",
					state, response, list(file.MockedResponses)))
			continue
		}
		answers, err := file.answers(response)
		if err != nil {
			problems = append(problems, err)
		}
		mocks.states[state] = mock{name: response, answers: answers}
	}
	return mocks, problems
}

// answers returns the answers of one response in the order of attempts.
func (file *mockText) answers(response string) ([]answer, error) {
	byAttempt := map[int]answer{}
	place := "MockedResponses/" + response
	entries := file.MockedResponses[response]
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[key]
		first, last, ok := attempts(key)
		if !ok {
			return nil, fmt.Errorf("%s/%s: the name must be an attempt or a range of them, such as 0 or 1-2, up to %d", place,
				key, maxMocked)
		}
		if (entry.Return == nil) == (entry.Throw == nil) {
			return nil, fmt.Errorf("%s/%s must have one of Return and Throw", place, key)
		}
		a := answer{value: atom.FromJSON(entry.Return)}
		if t := entry.Throw; t != nil {
			a = answer{failure: atom.Errorf(t.Error, "%s", t.Cause)}
			if t.Error == "" {
				return nil, fmt.Errorf("%s/%s/Throw must have Error", place, key)
			}
		}
		for n := first; n <= last; n++ {
			if _, twice := byAttempt[n]; twice {
				return nil, fmt.Errorf("%s has two answers for attempt %d", place, n)
			}
			byAttempt[n] = a
		}
	}
	answers := make([]answer, len(byAttempt))
	for n := range answers {
		a, ok := byAttempt[n]
		if !ok {
			return nil, fmt.Errorf("%s has no answer for attempt %d, but for a later one", place, n)
		}
		answers[n] = a
	}
	return answers, nil
}

// attempts reads "0" or "1-2".
func attempts(key string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(key, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.Atoi(from)
	if err != nil {
		return 0, 0, false
	}
	last, err = strconv.Atoi(to)
	return first, last, err == nil && 0 <= first && first <= last && last <= maxMocked
}

// unreadable returns the error of a text that is not a mock file, with its position.
func unreadable(name string, text []byte, at int64, err error) error {
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = broken.Offset
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = wrong.Offset
		err = fmt.Errorf("%s must not be %s", strings.ReplaceAll(wrong.Field, ".", "/"), wrong.Value)
	}
	before := text[:min(max(int(at)-1, 0), len(text))] // offsets are after the problem
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("tasks: %s:%d:%d: %s (a mock file has StateMachines and MockedResponses, as Step Functions Local's)",
		name, line, column, strings.TrimPrefix(err.Error(), "json: "))
}

// list returns the names in a map as a text.
func list[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// of returns the mock of the state that the atom at path visits. The mock has the name of the state, or the state's
// path, which comes first: Fork/Pay or Pay for Fork[0]/Pay#2. Nil mocks have none.
func (m *Mocks) of(path string) (found mock, ok bool) {
	if m == nil {
		return mock{}, false
	}
	exact, own := nodepath.Names(path)
	if found, ok = m.states[exact]; !ok {
		found, ok = m.states[own]
	}
	return found, ok
}

// covers reports whether the state that the atom at path visits is mocked.
func (m *Mocks) covers(path string) bool {
	_, ok := m.of(path)
	return ok
}

// Covers reports whether a mock may answer for the caller of a task: by the caller's path without numbers, such as
// Book/enter/flight, or by its name alone. A state of a fork, whose path is not known before a run, has its name as its
// path. Then a mock for a state of that name in any fork counts. Nil mocks cover nothing.
func (m *Mocks) Covers(caller string) bool {
	if m == nil {
		return false
	}
	exact, own := nodepath.Names(caller)
	for name := range m.states {
		if name == exact || name == own || strings.HasSuffix(name, "/"+exact) {
			return true
		}
	}
	return false
}

// mocked is a task that asks the mocks first.
type mocked struct {
	mocks   *Mocks
	body    atom.Body // the task without a mock; nil if there is none
	missing error     // why there is none
}

// Execute answers with the mock of the calling state, or executes the task.
func (b mocked) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	call := atom.CurrentCall(ctx)
	if m, ok := b.mocks.of(call.Path); ok {
		result, err := m.answer(call.Attempt)
		if err == nil && call.Token != "" {
			err = atom.ErrEnded // it is the state's result, also if another party would give it
		}
		return result, err
	}
	if b.body == nil {
		return nil, b.unmocked(call.Path)
	}
	return b.body.Execute(ctx, in)
}

// Revert does nothing for a mocked state, and undoes any other.
func (b mocked) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	if b.mocks.covers(atom.CurrentCall(ctx).Path) {
		return atom.Null, nil
	}
	if b.body == nil {
		return nil, b.unmocked(atom.CurrentCall(ctx).Path)
	}
	return b.body.Revert(ctx, in, did)
}

// Reverts reports whether there may be something to undo.
func (b mocked) Reverts() bool { return b.body == nil || b.body.Reverts() }

// answer returns the mock's answer to an attempt, counted from 1.
func (m mock) answer(attempt int) (atom.Value, error) {
	if n := attempt - 1; n >= 0 && n < len(m.answers) {
		return m.answers[n].value, m.answers[n].failure
	}
	return nil, atom.Errorf(atom.CodeNoMock, "the mock %q has no answer for attempt %d, counted from 0: it has %d", m.name,
		attempt-1, len(m.answers))
}

// unmocked returns why a call of the atom at path has no answer.
func (b mocked) unmocked(path string) error {
	state, _ := nodepath.Names(path)
	return atom.Errorf(atom.CodeNoMock, "no mock answers for the state %q, and %w", state, b.missing)
}
