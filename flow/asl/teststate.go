package asl

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A StateTest is one state that is run alone, as the TestState of AWS's API runs
// it. Its fields are named as they are there.
type StateTest struct {
	Definition    []byte             // of the state; or of a machine, with StateName
	StateName     string             // the state in the machine, at any level; "" when Definition is the state itself
	Input         atom.Value         // nil is {}
	Variables     atom.Value         // an object: those that the state sees; nil is none
	Context       atom.Value         // the context object; nil: one is made of Attributes
	Attributes    Attributes         // AWS demands the RoleARN of a Task state that is not mocked
	RevealSecrets bool               // not with a mock
	Mock          *StateMock         // what the state's work comes to; Map and Parallel states need it
	Configuration StateConfiguration // what happened before

	// Call does the task that a Task state without a mock asks for.
	Call func(resource string, input atom.Value) (atom.Value, *atom.Failure)
	Now  time.Time // when the state is entered
}

// A StateMock says what the work of a state comes to: one of Result and ErrorOutput.
type StateMock struct {
	Result              []byte // JSON
	ErrorOutput         *ErrorOutput
	FieldValidationMode string // how Result is compared with what the service gives: STRICT (or ""), PRESENT or NONE
}

// An ErrorOutput is how the work of a state failed.
type ErrorOutput struct{ Error, Cause string }

// A StateConfiguration says how far a state has come when it is tested.
type StateConfiguration struct {
	RetrierRetryCount        int        // how often the retrier that is meant for the error was used
	ErrorCausedByState       string     // the state inside of a Map or Parallel that the mocked error comes from
	MapIterationFailureCount int        // how many iterations of a Map have failed
	MapItemReaderData        atom.Value // what the ItemReader of a Map has read
}

// The statuses of a tested state.
const (
	TestSucceeded   = "SUCCEEDED"
	TestFailed      = "FAILED"
	TestRetriable   = "RETRIABLE"
	TestCaughtError = "CAUGHT_ERROR"
)

// A StateTestResult is what became of a tested state.
type StateTestResult struct {
	Status     string // one of those above
	Output     atom.Value
	NextState  string // "" when there is none
	Error      string
	Cause      string
	Inspection Inspection // what AWS shows with the inspection levels DEBUG and TRACE
}

// A TestStateError is why a state was not tested: the exception of AWS's API.
type TestStateError struct {
	Exception string // ValidationException, InvalidDefinition or InvalidExecutionInput
	Message   string
}

func (e *TestStateError) Error() string { return e.Exception + ": " + e.Message }

func invalidTest(message string) error {
	return &TestStateError{Exception: "ValidationException", Message: message}
}

// TestState runs one state, without its neighbours and without waiting. The
// error is a [TestStateError]. A state that fails is no error, but a result.
func TestState(t *StateTest) (*StateTestResult, error) {
	m, s, err := t.compile()
	if err != nil {
		return nil, err
	}
	if err := t.check(s); err != nil {
		return nil, err
	}
	w, err := t.enter(m, s)
	if err != nil {
		return nil, err
	}
	result := &StateTestResult{}
	out, f := t.visit(w)
	w.concludeTest(t, result, out, f)
	result.Inspection.show(w)
	return result, nil
}

// testedState is how AWS calls a state that has no name.
const testedState = "StateName"

// compile returns the state, in a machine.
func (t *StateTest) compile() (*Machine, *state, error) {
	text, name := t.Definition, t.StateName
	if name == "" {
		text, name = aroundState(t.Definition), testedState
	}
	m, problems := check("", text, nil)
	if refused := problems.Of(Error); len(refused) > 0 {
		for i := range refused {
			if p := &refused[i]; t.StateName == "" {
				p.Pointer = strings.TrimPrefix(p.Pointer, "/States/"+testedState)
			}
		}
		return nil, nil, &TestStateError{Exception: "InvalidDefinition", Message: Refusal(refused)}
	}
	if s := m.states[name]; s != nil {
		return m, s, nil
	}
	return nil, nil, invalidTest("State not found in definition")
}

// aroundState makes a machine of a state: it begins with it, and the others are
// those that it leads to. What is no object stays as it is.
func aroundState(definition []byte) []byte {
	type leading struct {
		Next any `json:"Next"` //nolint:tagliatelle // the language's name
	}
	var leads struct {
		leading

		Default any       `json:"Default"` //nolint:tagliatelle // the language's name
		Choices []leading `json:"Choices"` //nolint:tagliatelle // the language's name
		Catch   []leading `json:"Catch"`   //nolint:tagliatelle // the language's name
	}
	if object := (map[string]json.RawMessage)(nil); json.Unmarshal(definition, &object) != nil {
		return definition
	}
	_ = json.Unmarshal(definition, &leads) // what is of another type is reported by the check
	all := map[string]json.RawMessage{"end": json.RawMessage(`{"Type": "Succeed"}`)}
	to := func(next any) {
		if name, ok := next.(string); ok && name != "" {
			all[name] = json.RawMessage(`{"Type": "Succeed"}`)
		}
	}
	to(leads.Next)
	to(leads.Default)
	for _, rule := range leads.Choices {
		to(rule.Next)
	}
	for _, catcher := range leads.Catch {
		to(catcher.Next)
	}
	delete(all, testedState)
	text := []byte(`{"StartAt": "` + testedState + `", "States": {"` + testedState + `": `)
	text = append(text, definition...)
	for name, stub := range all {
		quoted, err := json.Marshal(name)
		if err != nil {
			continue
		}
		text = append(append(append(append(text, ',', ' '), quoted...), ':', ' '), stub...)
	}
	return append(text, "}}"...)
}

// enter begins the visit of the state.
func (t *StateTest) enter(m *Machine, s *state) (*interpreter, error) {
	input := emptyObject
	if len(t.Input) > 0 {
		input = textValue(t.Input)
	}
	if _, err := input.decoded(); err != nil {
		return nil, &TestStateError{Exception: "InvalidExecutionInput", Message: "Invalid State Machine Execution Input: '" + err.Error() + "'"}
	}
	attributes := t.Attributes
	attributes.Express = true // a test is no execution that could be redriven
	w := &interpreter{
		machine: m, steps: jsonata.MaxSteps, inspection: &inspection{},
		ask: &flow.Ask{
			Run:    &flow.Run{ID: "TestState", Flow: "TestState", Started: t.Now, Input: input.encoded(), Attributes: atom.MustEncode(attributes)},
			Memory: t.Variables, Index: -1, Now: t.Now, Event: 1, Token: func() string { return "TestStateTaskToken" },
		},
	}
	w.enter(s, input)
	for i := range s.retry { // whichever is meant
		w.tries = append(w.tries, 0)
		if i == 0 {
			w.tries[0] = t.Configuration.RetrierRetryCount
		}
	}
	var err error
	w.given, err = t.context(w)
	return w, err
}

// context returns the context object that the state sees.
func (t *StateTest) context(w *interpreter) (*jsonValue, error) {
	if len(t.Context) > 0 {
		return textValue(t.Context), checkContext(t.Context, w.state)
	}
	tree := w.context()
	set := func(object, name string, value any) {
		if of, ok := tree.Get(object); ok {
			if of, ok := of.(*jsontext.OrderedMap); ok {
				of.Set(name, value)
			}
		}
	}
	set("State", "Name", testedState)
	if t.Attributes.RoleARN == "" {
		set("Execution", "RoleArn", nil)
	}
	return treeValue(tree), nil
}

// visit does what the state does. A time that it would wait for has come.
func (t *StateTest) visit(w *interpreter) (step, *stateError) {
	switch w.state.kind {
	case taskState:
		return t.work(w)
	case parallelState:
		return t.fork(w)
	case mapState:
		return t.iterate(w)
	default:
		if out, f := w.visit(); f != nil || !out.waits {
			return out, f
		}
		return w.waited()
	}
}

// work lets the mock, or the program that is to be called, do the task.
func (t *StateTest) work(w *interpreter) (step, *stateError) {
	spec, f := w.workSpec(testedState)
	if f != nil {
		return step{}, f
	}
	if t.Mock != nil {
		return t.mocked(w.taskEnded)
	}
	result, failure := t.Call(spec.Task, spec.Input)
	if failure != nil {
		return step{}, w.taskFailed(failure)
	}
	return w.taskEnded(result)
}

// mocked goes on with what the mock says.
func (t *StateTest) mocked(ended func(atom.Value) (step, *stateError)) (step, *stateError) {
	if e := t.Mock.ErrorOutput; e != nil {
		return step{}, &stateError{name: e.Error, cause: e.Cause, bare: e.Error == ""}
	}
	return ended(atom.FromJSON(t.Mock.Result))
}

func (t *StateTest) fork(w *interpreter) (step, *stateError) {
	if _, f := w.effective(); f != nil {
		return step{}, f
	}
	return t.mocked(w.joinedAs)
}

func (w *interpreter) joinedAs(result atom.Value) (step, *stateError) {
	d := textValue(result)
	if d.tooLarge() {
		return step{}, limitError(w.state.name)
	}
	return w.leave(&w.state.out, d)
}

// iterate goes over what a Map state goes over, up to the iterations.
func (t *StateTest) iterate(w *interpreter) (step, *stateError) {
	if w.state.items.distributed != nil && w.state.items.distributed.reader != nil {
		w.read = treeValue([]any{})
		if len(t.Configuration.MapItemReaderData) > 0 {
			w.read = textValue(t.Configuration.MapItemReaderData)
		}
	}
	told := &shared{}
	count, slots, f := w.mapOver(told)
	if f != nil {
		return step{}, f
	}
	w.inspection.concurrency = &slots
	if f := w.selectItems(told, count); f != nil {
		return step{}, f
	}
	broken, f := t.intolerable(w, count)
	if f != nil {
		return step{}, f
	}
	if broken && t.Mock.ErrorOutput == nil {
		return step{}, &stateError{name: statesTolerated, cause: "The specified tolerated failure threshold was exceeded"}
	}
	return t.mocked(w.joinedAs)
}

// selectItems makes the input of each iteration.
func (w *interpreter) selectItems(told *shared, count int) *stateError {
	if w.state.items.selector == nil {
		return nil
	}
	told.outer = w.visible()
	items := make([]any, 0, count)
	for i := range count {
		ask := *w.ask
		ask.Index = i
		one := &interpreter{machine: w.machine, ask: &ask, state: w.state, enteredAt: w.enteredAt, group: told, steps: w.steps}
		input, f := one.item()
		if f != nil {
			return f
		}
		tree, f := input.look()
		if f != nil {
			return f
		}
		items = append(items, tree)
	}
	w.inspected(afterItemSelector, treeValue(items))
	return nil
}

// intolerable reports whether more iterations have failed than may. Unless the
// state has something to do about it, the mock says what the state comes to.
func (t *StateTest) intolerable(w *interpreter, count int) (bool, *stateError) {
	failed, counted := t.Configuration.MapIterationFailureCount, w.state.items.count.said
	most, f := w.amount(&w.state.items.count, 0, maxItems)
	if f != nil {
		return false, f
	}
	if counted {
		tolerated := int(most)
		w.inspection.toleratedCount = &tolerated
	}
	share, shared, f := w.toleratedShare()
	if f != nil {
		return false, f
	}
	if shared {
		w.inspection.toleratedPercentage = &share
	}
	if len(w.state.retry) == 0 && len(w.state.catch) == 0 {
		return false, nil
	}
	tooMany := (counted || !shared) && int64(failed) > most
	return tooMany || shared && float64(failed)*100 > share*float64(count), nil
}

// toleratedShare returns how many percent of the iterations may fail, and
// whether the state says so.
func (w *interpreter) toleratedShare() (share float64, said bool, f *stateError) {
	n := &w.state.items.percentage
	switch {
	case n.query != nil:
		value, f := n.query.typed(w.view(w.input), jsonata.Number)
		return value.Number(), true, f
	case n.path != nil:
		whole, f := w.amount(n, 0, 100)
		return float64(whole), true, f
	}
	return n.number, n.said, nil
}

// concludeTest says what became of the state.
func (w *interpreter) concludeTest(t *StateTest, r *StateTestResult, out step, f *stateError) {
	r.Status = TestSucceeded
	if f != nil {
		r.Status, r.Error, r.Cause = TestFailed, f.name, f.cause
		out, f = w.rescueTest(t, r, f)
	}
	if f != nil {
		r.Status, r.Error, r.Cause = TestFailed, f.name, f.cause
		return
	}
	if r.Status == TestFailed || r.Status == TestRetriable {
		return
	}
	w.set(out.assigned)
	r.Output = out.output.encoded()
	if out.next != nil {
		r.NextState = out.next.name
	}
}

// rescueTest says what Retry and Catch make of an error.
func (w *interpreter) rescueTest(t *StateTest, r *StateTestResult, f *stateError) (step, *stateError) {
	details := &r.Inspection.ErrorDetails
	for i := range w.state.retry {
		retrier := w.state.retry[i]
		if !f.matchesAny(retrier.errors, w.machine.profile) {
			continue
		}
		*details = &ErrorDetails{RetryIndex: &i}
		if n := t.Configuration.RetrierRetryCount; int64(n) < retrier.attempts {
			plain := *retrier
			plain.jitter = ""
			seconds := int64(plain.delay(n+1, nil) / time.Second)
			(*details).RetryBackoffIntervalSeconds = &seconds
			r.Status = TestRetriable
			return step{}, nil
		}
		break
	}
	for i := range w.state.catch {
		if !f.matchesAny(w.state.catch[i].errors, w.machine.profile) {
			continue
		}
		if *details == nil {
			*details = &ErrorDetails{}
		}
		(*details).CatchIndex = &i
		r.Status = TestCaughtError
		return w.leave(&w.state.catch[i].out, treeValue(f.output()))
	}
	return step{}, nil
}
