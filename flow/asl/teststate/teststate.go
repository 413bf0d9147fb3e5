package teststate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Test is one state that is run alone, as the TestState of AWS's API runs
// it. Its fields are named as they are there.
type Test struct {
	Definition    []byte         // of the state; or of a machine, with StateName
	StateName     string         // the state in the machine, at any level; "" when Definition is the state itself
	Input         atom.Value     // nil is {}
	Variables     atom.Value     // an object: those that the state sees; nil is none
	Context       atom.Value     // the context object; nil: one is made of Attributes
	Attributes    asl.Attributes // AWS demands the RoleARN of a Task state that is not mocked
	RevealSecrets bool           // not with a mock
	Mock          *Mock          // what the state's work comes to; Map and Parallel states need it
	Configuration Configuration  // what happened before

	// Call does the task that a Task state without a mock asks for.
	Call func(resource string, input atom.Value) (atom.Value, *atom.Failure)
	Now  time.Time // when the state is entered
}

// A Mock is the outcome of a state's work: one of Result and ErrorOutput.
type Mock struct {
	Result              []byte // JSON
	ErrorOutput         *ErrorOutput
	FieldValidationMode string // how Result is compared with what the service gives: STRICT (or ""), PRESENT or NONE
}

// An ErrorOutput is how the work of a state failed.
type ErrorOutput struct{ Error, Cause string }

// A Configuration says how far a state has come when it is tested.
type Configuration struct {
	RetrierRetryCount        int        // how often the retrier that is meant for the error was used
	ErrorCausedByState       string     // the state inside of a Map or Parallel that the mocked error comes from
	MapIterationFailureCount int        // how many iterations of a Map have failed
	MapItemReaderData        atom.Value // what the ItemReader of a Map has read
}

// The statuses of a tested state.
const (
	Succeeded   = "SUCCEEDED"
	Failed      = "FAILED"
	Retriable   = "RETRIABLE"
	CaughtError = "CAUGHT_ERROR"
)

// A Result is the outcome of a tested state.
type Result struct {
	Status     string // one of those above
	Output     atom.Value
	NextState  string // "" when there is none
	Error      string
	Cause      string
	Inspection Inspection // what AWS shows with the inspection levels DEBUG and TRACE
}

// An Error is the reason why a state was not tested: the exception of AWS's API.
type Error struct {
	Exception string // ValidationException, InvalidDefinition or InvalidExecutionInput
	Message   string
}

func (e *Error) Error() string { return e.Exception + ": " + e.Message }

func invalidTest(message string) error {
	return &Error{Exception: "ValidationException", Message: message}
}

// Run runs one state, without its neighbours and without waiting. The
// error is an [Error]. A state that fails is no error, but a result.
func Run(t *Test) (*Result, error) {
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
	result := &Result{}
	out, f := t.visit(w)
	concludeTest(w, t, result, out, f)
	show(&result.Inspection, w)
	return result, nil
}

// testedState is how AWS calls a state that has no name.
const testedState = "StateName"

// compile returns the state, in a machine.
func (t *Test) compile() (*syntax.Machine, *syntax.State, error) {
	text, name := t.Definition, t.StateName
	if name == "" {
		text, name = aroundState(t.Definition), testedState
	}
	m, problems := check.Definition("", text, check.Options{})
	if refused := problems.Of(asl.Error); len(refused) > 0 {
		for i := range refused {
			if p := &refused[i]; t.StateName == "" {
				p.Pointer = strings.TrimPrefix(p.Pointer, "/States/"+testedState)
			}
		}
		return nil, nil, &Error{Exception: "InvalidDefinition", Message: refusal(refused)}
	}
	if s := m.States[name]; s != nil {
		return m, s, nil
	}
	return nil, nil, invalidTest("State not found in definition")
}

// refusal returns problems as AWS's API tells why it refuses a definition:
//
//	Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: Next "Shipp" is no state at /States/Pay/Next'
func refusal(ps asl.Problems) string {
	all := make([]string, len(ps))
	for i, p := range ps {
		_, message, inState := strings.Cut(p.Message, `": `)
		if !inState || !strings.HasPrefix(p.Message, `state "`) {
			message = p.Message
		}
		all[i] = fmt.Sprintf("%s: %s at %s", p.Code, message, cmp.Or(p.Pointer, "/"))
	}
	return "Invalid State Machine Definition: '" + strings.Join(all, ", ") + "'"
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
func (t *Test) enter(m *syntax.Machine, s *syntax.State) (*interpreter.Interpreter, error) {
	input := data.EmptyObject
	if len(t.Input) > 0 {
		input = data.Text(t.Input)
	}
	if _, err := input.Decoded(); err != nil {
		return nil, &Error{Exception: "InvalidExecutionInput", Message: "Invalid State Machine Execution Input: '" + err.Error() + "'"}
	}
	attributes := t.Attributes
	attributes.Express = true // a test is no execution that could be redriven
	w := interpreter.NewInterpreter(m, &flow.Ask{
		Run:    &flow.Run{ID: "TestState", Flow: "TestState", Started: t.Now, Input: input.Encoded(), Attributes: atom.MustEncode(attributes)},
		Memory: t.Variables, Index: -1, Now: t.Now, Event: 1, Token: func() string { return "TestStateTaskToken" },
	})
	w.Inspection = &interpreter.Inspection{}
	w.Enter(s, input)
	for i := range s.Retry { // one count for each retrier; RetrierRetryCount is the count of the first
		w.Tries = append(w.Tries, 0)
		if i == 0 {
			w.Tries[0] = t.Configuration.RetrierRetryCount
		}
	}
	var err error
	w.Given, err = t.context(w)
	return w, err
}

// context returns the context object that the state sees.
func (t *Test) context(w *interpreter.Interpreter) (*data.Value, error) {
	if len(t.Context) > 0 {
		return data.Text(t.Context), checkContext(t.Context, w.State)
	}
	tree := w.Context()
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
	return data.Tree(tree), nil
}

// visit does what the state does. A time that it would wait for has come.
func (t *Test) visit(w *interpreter.Interpreter) (interpreter.Step, *stateerror.Error) {
	switch w.State.Kind {
	case syntax.TaskState:
		return t.work(w)
	case syntax.ParallelState:
		return t.fork(w)
	case syntax.MapState:
		return t.iterate(w)
	default:
		if out, f := w.Visit(); f != nil || !out.Waits {
			return out, f
		}
		return w.Waited()
	}
}

// work lets the mock, or the program that is to be called, do the task.
func (t *Test) work(w *interpreter.Interpreter) (interpreter.Step, *stateerror.Error) {
	spec, f := w.WorkSpec(testedState)
	if f != nil {
		return interpreter.Step{}, f
	}
	if t.Mock != nil {
		return t.mocked(w.TaskEnded)
	}
	result, failure := t.Call(spec.Task, spec.Input)
	if failure != nil {
		return interpreter.Step{}, w.TaskFailed(failure)
	}
	return w.TaskEnded(result)
}

// mocked goes on with what the mock says.
func (t *Test) mocked(ended func(atom.Value) (interpreter.Step, *stateerror.Error)) (interpreter.Step, *stateerror.Error) {
	if e := t.Mock.ErrorOutput; e != nil {
		return interpreter.Step{}, &stateerror.Error{Name: e.Error, Cause: e.Cause, Bare: e.Error == ""}
	}
	return ended(atom.FromJSON(t.Mock.Result))
}

func (t *Test) fork(w *interpreter.Interpreter) (interpreter.Step, *stateerror.Error) {
	if _, f := w.Effective(); f != nil {
		return interpreter.Step{}, f
	}
	return t.joined(w)
}

// joined goes on with what the mock says of all levels of the state.
func (t *Test) joined(w *interpreter.Interpreter) (interpreter.Step, *stateerror.Error) {
	return t.mocked(func(result atom.Value) (interpreter.Step, *stateerror.Error) {
		d := data.Text(result)
		if d.TooLarge() {
			return interpreter.Step{}, stateerror.TooLarge(w.State.Name)
		}
		return w.Leave(&w.State.Out, d)
	})
}

// iterate goes over what a Map state goes over, up to the iterations.
func (t *Test) iterate(w *interpreter.Interpreter) (interpreter.Step, *stateerror.Error) {
	if w.State.Items.Distributed != nil && w.State.Items.Distributed.Reader != nil {
		w.Read = data.Tree([]any{})
		if len(t.Configuration.MapItemReaderData) > 0 {
			w.Read = data.Text(t.Configuration.MapItemReaderData)
		}
	}
	told := &interpreter.Shared{}
	count, slots, f := w.MapOver(told)
	if f != nil {
		return interpreter.Step{}, f
	}
	w.Inspection.Concurrency = &slots
	if f := selectItems(w, told, count); f != nil {
		return interpreter.Step{}, f
	}
	broken, f := t.intolerable(w, count)
	if f != nil {
		return interpreter.Step{}, f
	}
	if broken && t.Mock.ErrorOutput == nil {
		return interpreter.Step{}, &stateerror.Error{Name: stateerror.Tolerated, Cause: "The specified tolerated failure threshold was exceeded"}
	}
	return t.joined(w)
}

// selectItems makes the input of each iteration.
func selectItems(w *interpreter.Interpreter, told *interpreter.Shared, count int) *stateerror.Error {
	if w.State.Items.Selector == nil {
		return nil
	}
	told.Outer = w.Visible()
	items := make([]any, 0, count)
	for i := range count {
		ask := *w.Ask
		ask.Index = i
		one := interpreter.NewInterpreter(w.Machine, &ask)
		one.State, one.EnteredAt, one.Group, one.Steps = w.State, w.EnteredAt, told, w.Steps
		input, f := one.Item()
		if f != nil {
			return f
		}
		tree, f := input.Look()
		if f != nil {
			return f
		}
		items = append(items, tree)
	}
	w.Inspected(interpreter.AfterItemSelector, data.Tree(items))
	return nil
}

// intolerable reports whether more iterations have failed than may. Unless the
// state has something to do about it, the mock says what the state comes to.
func (t *Test) intolerable(w *interpreter.Interpreter, count int) (bool, *stateerror.Error) {
	failed, counted := t.Configuration.MapIterationFailureCount, w.State.Items.Count.Said
	most, f := w.Amount(&w.State.Items.Count, 0, syntax.MaxItems)
	if f != nil {
		return false, f
	}
	if counted {
		tolerated := int(most)
		w.Inspection.ToleratedCount = &tolerated
	}
	share, shared, f := toleratedShare(w)
	if f != nil {
		return false, f
	}
	if shared {
		w.Inspection.ToleratedPercentage = &share
	}
	if len(w.State.Retry) == 0 && len(w.State.Catch) == 0 {
		return false, nil
	}
	tooMany := (counted || !shared) && int64(failed) > most
	return tooMany || shared && float64(failed)*100 > share*float64(count), nil
}

// toleratedShare returns how many percent of the iterations may fail, and
// whether the state says so.
func toleratedShare(w *interpreter.Interpreter) (share float64, said bool, f *stateerror.Error) {
	n := &w.State.Items.Percentage
	switch {
	case n.Query != nil:
		value, f := n.Query.Typed(w.View(w.Input), jsonata.Number)
		return value.Number(), true, f
	case n.Path != nil:
		whole, f := w.Amount(n, 0, 100)
		return float64(whole), true, f
	}
	return n.Number, n.Said, nil
}

// concludeTest says what became of the state.
func concludeTest(w *interpreter.Interpreter, t *Test, r *Result, out interpreter.Step, f *stateerror.Error) {
	r.Status = Succeeded
	if f != nil {
		r.Status, r.Error, r.Cause = Failed, f.Name, f.Cause
		out, f = rescueTest(w, t, r, f)
	}
	if f != nil {
		r.Status, r.Error, r.Cause = Failed, f.Name, f.Cause
		return
	}
	if r.Status == Failed || r.Status == Retriable {
		return
	}
	w.Set(out.Assigned)
	r.Output = out.Output.Encoded()
	if out.Next != nil {
		r.NextState = out.Next.Name
	}
}

// rescueTest says what Retry and Catch make of an error.
func rescueTest(w *interpreter.Interpreter, t *Test, r *Result, f *stateerror.Error) (interpreter.Step, *stateerror.Error) {
	details := &r.Inspection.ErrorDetails
	for i := range w.State.Retry {
		retrier := w.State.Retry[i]
		if !f.Matches(retrier.Errors, w.Rules().AllMatchesAll) {
			continue
		}
		*details = &ErrorDetails{RetryIndex: &i}
		if n := t.Configuration.RetrierRetryCount; int64(n) < retrier.Attempts {
			plain := *retrier
			plain.Jitter = ""
			seconds := int64(plain.Delay(n+1, nil) / time.Second)
			(*details).RetryBackoffIntervalSeconds = &seconds
			r.Status = Retriable
			return interpreter.Step{}, nil
		}
		break
	}
	for i := range w.State.Catch {
		if !f.Matches(w.State.Catch[i].Errors, w.Rules().AllMatchesAll) {
			continue
		}
		if *details == nil {
			*details = &ErrorDetails{}
		}
		(*details).CatchIndex = &i
		r.Status = CaughtError
		return w.Leave(&w.State.Catch[i].Out, data.Tree(f.Output()))
	}
	return interpreter.Step{}, nil
}
