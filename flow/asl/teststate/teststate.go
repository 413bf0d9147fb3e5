package teststate

import (
	"cmp"
	"context"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
)

// A Test is one state to run alone, like the TestState call of AWS's API. Its fields have AWS's names.
type Test struct {
	Definition    []byte         // definition of the state; if StateName is set, of its machine
	StateName     string         // name of the state in the machine, at any level; "" if Definition is the state itself
	Input         atom.Value     // nil means {}
	Variables     atom.Value     // object of the variables that the state sees; nil means none
	Context       atom.Value     // the context object; nil means one derived from Attributes
	Attributes    asl.Attributes // AWS requires the RoleARN for a Task state that is not mocked
	RevealSecrets bool           // must be false with a mock
	Mock          *Mock          // result or failure of the state's work; Map and Parallel states need a mock
	Configuration Configuration  // previous attempts and iterations

	// Call does the work of a Task state without a mock.
	Call func(resource string, input atom.Value) (atom.Value, *atom.Failure)
	// Exchange is what Call fills in for an HTTP task, see [WithExchange]; nil if it does not.
	Exchange *Exchange
	Now      time.Time // time at which the state is entered
}

// A Mock is the outcome of a state's work: either Result or ErrorOutput.
type Mock struct {
	Result              []byte       // JSON
	ErrorOutput         *ErrorOutput // failure of the work; nil if it succeeds
	FieldValidationMode string       // how Result is compared with the service's shape: STRICT (or ""), PRESENT or NONE
}

// An ErrorOutput is how the work of a state failed.
type ErrorOutput struct {
	Error string // name of the error, such as "States.Timeout"
	Cause string // text for people
}

// A Configuration sets the progress of a state when it is tested.
type Configuration struct {
	RetrierRetryCount        int    // how often the retrier that matches the error was used
	ErrorCausedByState       string // the state inside a Map or Parallel that raises the mocked error
	MapIterationFailureCount int    // how many iterations of a Map have failed
	MapItemReaderData        []byte // of a Map state: the data in the source of its ItemReader, such as a CSV file
}

// The statuses of a tested state, see [Result.Status]. The texts are AWS's.
const (
	Succeeded   = "SUCCEEDED"    // the state succeeded
	Failed      = "FAILED"       // the state failed, and no Retry or Catch applies
	Retriable   = "RETRIABLE"    // the state failed, and a Retry applies
	CaughtError = "CAUGHT_ERROR" // the state failed, and a Catch applies
)

// A Result is the outcome of a tested state.
type Result struct {
	Status     string     // [Succeeded], [Failed], [Retriable] or [CaughtError]
	Output     atom.Value // output of the state, if it succeeded
	NextState  string     // name of the state that follows; "" if none does
	Error      string     // name of the error; "" if there is none
	Cause      string     // text of the error for people
	Inspection Inspection // what AWS shows with the inspection levels DEBUG and TRACE
	Exchange   *Exchange  // what AWS shows with TRACE of an HTTP task; nil if it is not known
}

// An Error is the reason why a state was not tested: the exception of AWS's API.
type Error struct {
	Exception string // ValidationException, InvalidDefinition or InvalidExecutionInput
	Message   string // text for people

	// States are those of the definition, in order, if it has none of the name that the test gives. Near is the one that
	// was probably meant, or "". AWS says neither.
	States []string
	Near   string
}

// Error names the exception and gives the message.
func (e *Error) Error() string { return e.Exception + ": " + e.Message }

func invalidTest(message string) error {
	return &Error{Exception: "ValidationException", Message: message}
}

// Run runs one state, without its neighbors and without waiting. If the state cannot be tested, the error is an
// [Error]. A state that fails is a result, not an error. When the context ends, Run returns its error soon.
func Run(ctx context.Context, t *Test) (*Result, error) {
	m, s, err := t.compile()
	if err != nil {
		return nil, err
	}
	if err := t.check(s); err != nil {
		return nil, err
	}
	w, err := t.enter(ctx, m, s)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	out, f, err := t.visit(w)
	if err != nil {
		return nil, err
	}
	concludeTest(w, t, result, out, f)
	if ctx.Err() != nil { // the state was interrupted
		return nil, context.Cause(ctx)
	}
	show(&result.Inspection, w)
	result.Exchange = t.Exchange
	return result, nil
}

// testedState is AWS's name for a state without a name.
const testedState = "StateName"

// enter starts the visit of the state.
func (t *Test) enter(ctx context.Context, m *syntax.Machine, s *syntax.State) (*interpreter.Interpreter, error) {
	input := data.EmptyObject
	if len(t.Input) > 0 {
		input = data.Text(t.Input)
	}
	if _, err := input.Decoded(); err != nil {
		why := cmp.Or(asl.SyntaxMessage(string(t.Input.JSON())), err.Error())
		return nil, &Error{
			Exception: "InvalidExecutionInput", Message: "Invalid State Machine Execution Input: '" + why + "'",
		}
	}
	variables, err := t.variables()
	if err != nil {
		return nil, err
	}
	attributes := t.Attributes
	attributes.Express = true // a test cannot be redriven
	w := interpreter.NewInterpreter(m, &grow.Ask{
		Run: &grow.RunInfo{
			ID: "TestState", Flow: "TestState", Started: t.Now, Input: input.Encoded(),
			Attributes: atom.MustEncode(attributes),
		},
		Memory: variables, Index: -1, Now: t.Now, Event: 1, Token: func() string { return "TestStateTaskToken" },
		Interrupted: func() bool { return ctx.Err() != nil },
	})
	w.Inspection = &interpreter.Inspection{}
	w.Enter(s, input)
	for i := range s.Retry { // one count for each retrier; RetrierRetryCount is the count of the first
		w.Tries = append(w.Tries, 0)
		if i == 0 {
			w.Tries[0] = t.Configuration.RetrierRetryCount
		}
	}
	w.Given, err = t.context(w)
	return w, err
}

// visit runs the state. A time for which the state would wait has passed. The error is an [Error].
func (t *Test) visit(w *interpreter.Interpreter) (out interpreter.Step, f *stateerror.Error, err error) {
	switch w.State.Kind {
	case syntax.TaskState:
		out, f = t.work(w)
	case syntax.ParallelState:
		out, f = t.fork(w)
	case syntax.MapState:
		return t.iterate(w)
	default:
		if out, f = w.Visit(); f == nil && out.Waits {
			out, f = w.Waited()
		}
	}
	return out, f, nil
}

// work uses the mock, or calls the caller's function.
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

// mocked continues with the outcome in the mock.
func (t *Test) mocked(ended func(atom.Value) (interpreter.Step, *stateerror.Error)) (
	interpreter.Step, *stateerror.Error,
) {
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

// joined continues with the mocked outcome of all levels of the state.
func (t *Test) joined(w *interpreter.Interpreter) (interpreter.Step, *stateerror.Error) {
	return t.mocked(func(result atom.Value) (interpreter.Step, *stateerror.Error) {
		d := data.Text(result)
		if d.TooLarge() {
			return interpreter.Step{}, stateerror.TooLarge(w.State.Name)
		}
		return w.Leave(&w.State.Out, d)
	})
}

// concludeTest sets the result of the state.
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

// rescueTest applies Retry and Catch to an error.
func rescueTest(w *interpreter.Interpreter, t *Test, r *Result,
	f *stateerror.Error,
) (interpreter.Step, *stateerror.Error) {
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
