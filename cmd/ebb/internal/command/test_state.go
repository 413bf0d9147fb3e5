package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/teststate"
	"github.com/ebbflow/ebb/internal/visible"
)

// testStateFlags are the flags of ebb test-state.
type testStateFlags struct {
	state, level, expect        string
	input, variables, context   string // JSON
	result, errorName, cause    string // of the mock
	validate                    string
	retries, failedIterations   int
	errorFrom, readerData, role string
	tasks                       []string
	resultGiven, mocked         bool
}

var (
	inspectionLevels = []string{teststate.Info, teststate.Debug, teststate.Trace}
	validationModes  = []string{"STRICT", "PRESENT", "NONE"}
	testStatuses     = []string{teststate.Succeeded, teststate.Failed, teststate.Retriable, teststate.CaughtError}
)

// testStateTime bounds the test of a state, as on AWS.
//
//limit:command time of `ebb test-state` | {} | the task fails
const testStateTime = 5 * time.Minute

func (s subcommands) testStateCommand() *cobra.Command {
	var f testStateFlags
	cmd := &cobra.Command{
		Use:   "test-state FILE",
		Short: "Run one state of a machine alone, as AWS's TestState does",
		Long: `Run one state of a machine in the Amazon States Language alone, without waiting, as AWS's
TestState does. FILE is the definition of a state, or of a machine with --state. Its work
is mocked with --mock-result or --mock-error, or done by the task. Map, Parallel, activity,
.sync and .waitForTaskToken states need a mock.

The JSON output (-o json) is the response of AWS's API.

Exit status: 0 SUCCEEDED, RETRIABLE or CAUGHT_ERROR, or the status that --expect names;
1 FAILED, or another status than expected; 2 not testable.`,
		Example: `  ebb test-state trip.asl.json --state Pay --mock-result '{"receipt": 7}' --level DEBUG
  ebb test-state trip.asl.json --state Pay --mock-error BankBusy --retry-count 2 --expect FAILED
  ebb test-state state.json --input @input.json -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.resultGiven = cmd.Flags().Changed("mock-result")
			f.mocked = f.resultGiven || cmd.Flags().Changed("mock-error")
			return s.testState(cmd.Context(), args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "the state of the machine in FILE, at any level")
	flags.StringVarP(&f.input, "input", "i", "", "input of the state: JSON, @FILE, or - for standard input (default {})")
	flags.StringVar(&f.variables, "variables", "", "object of the variables that the state sees: JSON or @FILE")
	flags.StringVar(&f.context, "context", "", "context object: JSON or @FILE (default one of this test)")
	flags.StringVar(&f.level, "level", teststate.Info, "what to show of the data: "+strings.Join(inspectionLevels, ", "))
	flags.StringVar(&f.result, "mock-result", "", "result of the state's work: JSON or @FILE")
	flags.StringVar(&f.errorName, "mock-error", "", "error with which the state's work fails")
	flags.StringVar(&f.cause, "mock-cause", "", "with --mock-error: its cause")
	flags.StringVar(&f.validate, "mock-validation", "STRICT", "compare a mocked result with the service's shape: "+
		strings.Join(validationModes, ", "))
	flags.IntVar(&f.retries, "retry-count", 0, "how often the retrier of the error was used")
	flags.StringVar(&f.errorFrom, "error-from", "", "with --mock-error: the state inside a Map or Parallel that fails")
	flags.IntVar(&f.failedIterations, "failed-iterations", 0, "how many iterations of a Map have failed")
	flags.StringVar(&f.readerData, "reader-data", "", "data in the source of an ItemReader, such as CSV: text or @FILE")
	flags.StringVar(&f.role, "role", "arn:aws:iam::123456789012:role/ebb", "role in the context object")
	flags.StringArrayVar(&f.tasks, "task", nil, "without a mock: what a resource stands for, NAME=RESOURCE")
	flags.StringVar(&f.expect, "expect", "", "exit with 0 if the test has this status, "+strings.Join(testStatuses, ", "))
	cmd.MarkFlagsMutuallyExclusive("mock-result", "mock-error")
	return cmd
}

func (f *testStateFlags) check() error {
	if f.cause != "" && f.errorName == "" {
		return exit.Usagef("--mock-cause goes with --mock-error, which names the error")
	}
	return errors.Join(session.OneOf("level", f.level, inspectionLevels),
		session.OneOf("mock-validation", f.validate, validationModes), session.OneOf("expect", f.expect, testStatuses))
}

// statesNamed is how many states of a machine the error for an unknown state lists.
const statesNamed = 10

func (s subcommands) testState(ctx context.Context, file string, f *testStateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, testStateTime)
	defer stop()
	test, err := s.stateTest(ctx, file, f)
	if err != nil {
		return err
	}
	result, err := teststate.Run(ctx, test)
	if refusal, ok := errors.AsType[*teststate.Error](err); ok {
		switch most := min(len(refusal.States), statesNamed); {
		case refusal.Near != "":
			return exit.Usagef("%s: %w (did you mean %q?)", file, err, refusal.Near)
		case most > 0:
			return exit.Usagef("%s: %w (such as %s)", file, err, visible.Line(strings.Join(refusal.States[:most], ", ")))
		}
	}
	if err != nil {
		return exit.Usagef("%s: %w", file, err)
	}
	if s.JSON() {
		err = view.NewJSON(s.Out).Encode(result.Response(f.level))
	} else {
		_, err = fmt.Fprint(s.Out, stateReport(result, f.level))
	}
	switch {
	case err != nil:
		return err
	case f.expect == "" && result.Status == teststate.Failed:
		return &exit.Error{Status: exit.Failure, Err: errors.New("the state failed"), Told: true}
	case f.expect != "" && result.Status != f.expect:
		return &exit.Error{Status: exit.Failure, Err: fmt.Errorf("expected %s, and the test is %s", f.expect, result.Status)}
	}
	return nil
}

// stateTest returns the test that the flags describe.
func (s subcommands) stateTest(ctx context.Context, file string, f *testStateFlags) (*teststate.Test, error) {
	how, err := s.HowToRead(file)
	if err != nil {
		return nil, err
	}
	text, err := definition.ReadState(file, f.state, how)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	test := &teststate.Test{
		Definition: text, StateName: f.state, Now: time.Now(),
		Attributes: asl.Attributes{
			ExecutionName: "test", RoleARN: f.role,
			ExecutionID:    "arn:aws:states:us-east-1:123456789012:express:TestState:test",
			StateMachineID: "arn:aws:states:us-east-1:123456789012:stateMachine:TestState",
		},
		Configuration: teststate.Configuration{
			RetrierRetryCount: f.retries, ErrorCausedByState: f.errorFrom, MapIterationFailureCount: f.failedIterations,
		},
	}
	for _, value := range []struct {
		flag, given string
		to          *atom.Value
	}{
		{"--input", f.input, &test.Input},
		{"--variables", f.variables, &test.Variables},
		{"--context", f.context, &test.Context},
	} {
		if value.given == "" {
			continue
		}
		if *value.to, err = s.Value(value.flag, value.given); err != nil {
			return nil, err
		}
	}
	if f.readerData != "" {
		if test.Configuration.MapItemReaderData, _, err = s.Text("--reader-data", f.readerData); err != nil {
			return nil, err
		}
	}
	if f.mocked {
		test.Mock = &teststate.Mock{FieldValidationMode: f.validate}
		if !f.resultGiven {
			test.Mock.ErrorOutput = &teststate.ErrorOutput{Error: f.errorName, Cause: f.cause}
			return test, nil
		}
		result, err := s.Value("--mock-result", f.result)
		test.Mock.Result = result.JSON()
		return test, err
	}
	run := runFlags{tasks: f.tasks}
	b, err := run.beginning(file)
	if err != nil {
		return nil, err
	}
	registry, err := b.Registry("TestState", s.FolderMode())
	if err != nil {
		return nil, err
	}
	test.Exchange = &teststate.Exchange{}
	ctx = teststate.WithExchange(ctx, test.Exchange)
	test.Call = func(resource string, input atom.Value) (atom.Value, *atom.Failure) {
		body, err := registry.Task(resource)
		if err == nil {
			var result atom.Value
			call := &atom.Call{Run: "TestState", Path: f.state, Attempt: 1}
			if result, err = body.Execute(atom.WithCall(ctx, call), atom.Single(input)); err == nil {
				return result, nil
			}
		}
		return nil, atom.NewFailure(f.state, 1, err)
	}
	return test, nil
}

// stateReport formats the result for people.
func stateReport(r *teststate.Result, level string) string {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "  %-20s %s\n", name, visible.Line(fmt.Sprint(value))) }
	b.WriteString(r.Status)
	if r.NextState != "" {
		b.WriteString(", next " + visible.Line(r.NextState))
	}
	b.WriteString("\n")
	if r.Error != "" {
		line("error", r.Error)
	}
	if r.Cause != "" {
		line("cause", r.Cause)
	}
	if r.Output != nil {
		line("output", r.Output)
	}
	if level == teststate.Info {
		return b.String()
	}
	i := &r.Inspection
	for _, step := range []struct {
		name  string
		value atom.Value
	}{
		{"input", i.Input},
		{"after InputPath", i.AfterInputPath},
		{"after Parameters", i.AfterParameters},
		{"after Arguments", i.AfterArguments},
		{"after ItemsPath", i.AfterItemsPath},
		{"after ItemSelector", i.AfterItemSelector},
		{"result", i.Result},
		{"after ResultSelector", i.AfterResultSelector},
		{"after ResultPath", i.AfterResultPath},
		{"variables", i.Variables},
	} {
		if step.value != nil {
			line(step.name, step.value)
		}
	}
	if i.MaxConcurrency != nil {
		line("max concurrency", *i.MaxConcurrency)
	}
	if i.ToleratedFailureCount != nil {
		line("tolerated failures", *i.ToleratedFailureCount)
	}
	if i.ToleratedFailurePercentage != nil {
		line("tolerated failures %", *i.ToleratedFailurePercentage)
	}
	if d := i.ErrorDetails; d != nil {
		if d.RetryIndex != nil {
			text := fmt.Sprintf("Retry[%d]", *d.RetryIndex)
			if d.RetryBackoffIntervalSeconds != nil {
				text += fmt.Sprintf(" after %d s", *d.RetryBackoffIntervalSeconds)
			}
			line("retried by", text)
		}
		if d.CatchIndex != nil {
			line("caught by", fmt.Sprintf("Catch[%d]", *d.CatchIndex))
		}
	}
	return b.String()
}
