package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/casetest"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
)

// testFlags are the flags of ebb test.
type testFlags struct {
	only    string
	timeout time.Duration
	minimum float64
	failAt  bool
	lambdas bool

	junit, lcov, summary string // files to write
}

func (s subcommands) testCommand() *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [FILE|FOLDER…]",
		Short: "Run the cases of definitions, in virtual time",
		Long: `Run the cases of definitions in the Amazon States Language or SM4C, with mocks in place of
their tasks. Time is virtual: waits, retries and timeouts take no time.

The cases of order.asl.json are in order.test.yaml (or .yml, .json) beside it. Name the
definition, the case file, or a folder; the default is the current folder. How to write
cases is in docs/how-to/test-a-machine.md.

Exit status: 0 all cases passed, 1 a case failed, or too little is covered; 2 an invalid
case file or definition.`,
		Example: `  ebb test
  ebb test order.asl.json
  ebb test --only paid examples
  ebb test --junit junit.xml --lcov lcov.info --summary summary.md --min-coverage 80`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return s.test(cmd.Context(), args, &f)
		},
	}
	flags := cmd.Flags()
	s.TemplateFlags(flags)
	flags.BoolVar(&f.lambdas, functionsFlag, false, functionsHelp+", where a state has no mock")
	flags.StringVar(&f.only, "only", "", "run only the cases whose names contain this")
	flags.BoolVar(&f.failAt, "fail-at", false, "try every failure and crash of each case, and report what stays done")
	flags.StringVar(&f.junit, "junit", "", "write the results to this file, as JUnit's XML")
	flags.StringVar(&f.lcov, "lcov", "", "write the coverage to this file, as LCOV")
	flags.StringVar(&f.summary, "summary", "", "write results, coverage and pictures to this file, as Markdown")
	flags.Float64Var(&f.minimum, "min-coverage", 0, "fail if the cases cover less of a definition, in percent")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "how long one case may take, in real time")
	return cmd
}

func (s subcommands) test(ctx context.Context, paths []string, f *testFlags) error {
	switch {
	case f.timeout <= 0:
		return exit.Usagef("--timeout must be more than 0")
	case f.minimum < 0 || f.minimum > 100:
		return exit.Usagef("--min-coverage must be from 0 to 100")
	}
	report, err := s.runCases(ctx, paths, f)
	if err != nil {
		return err
	}
	if s.JSON() {
		err = view.NewJSON(s.Out).Encode(report.Object())
	} else {
		_, err = fmt.Fprint(s.Out, report.Text())
	}
	if err == nil {
		err = f.write(report)
	}
	switch {
	case err != nil:
		return err
	case report.Failed() > 0:
		return &exit.Error{Status: exit.Failure, Err: errors.New("cases failed"), Told: true}
	}
	for _, c := range report.Coverage {
		if c.Percent() < f.minimum {
			return &exit.Error{Status: exit.Failure, Err: fmt.Errorf("the cases cover %.1f %% of %s; --min-coverage is %g",
				c.Percent(), c.Def.Source.File, f.minimum)}
		}
	}
	return nil
}

// write writes the files that the flags name.
func (f *testFlags) write(report *casetest.Report) error {
	for _, file := range []struct {
		flag, name string
		write      func(io.Writer) error
	}{
		{"junit", f.junit, report.WriteJUnit},
		{"lcov", f.lcov, report.WriteLCOV},
		{"summary", f.summary, report.WriteSummary},
	} {
		if file.name == "" {
			continue
		}
		to, err := os.Create(file.name)
		if err == nil {
			err = errors.Join(file.write(to), to.Close())
		}
		if err != nil {
			return &exit.Error{Status: exit.Unreachable, Err: fmt.Errorf("--%s: %w", file.flag, err)}
		}
	}
	return nil
}

// runCases opens all case files, and then runs their cases.
func (s subcommands) runCases(ctx context.Context, paths []string, f *testFlags) (*casetest.Report, error) {
	suites, err := s.openSuites(paths)
	if err != nil {
		return nil, err
	}
	if f.lambdas {
		for _, suite := range suites {
			if suite.Functions, _, err = s.functionsBeside(suite.Def, true); err != nil {
				return nil, err
			}
			defer suite.Functions.Close()
		}
	}
	report := casetest.NewReport(suites)
	for _, suite := range suites {
		for _, c := range suite.File.Cases {
			if !strings.Contains(c.Name, f.only) {
				continue
			}
			result := suite.Run(ctx, c, f.timeout)
			if f.failAt && result.Passed && result.Status == "SUCCESS" {
				result.AddFailAt(suite.FailAt(ctx, c, f.timeout))
			}
			report.Add(result)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	if len(report.Results) == 0 && f.only == "" {
		return nil, exit.Usagef("the case files have no cases")
	}
	if len(report.Results) == 0 {
		return nil, exit.Usagef("there is no case whose name contains %q", f.only)
	}
	return report, nil
}

func (s subcommands) openSuites(paths []string) ([]*casetest.Suite, error) {
	names, err := casetest.Find(paths)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	var suites []*casetest.Suite
	var problems []string
	for _, name := range names {
		suite, err := s.openSuite(name)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		suites = append(suites, suite)
	}
	if len(problems) > 0 {
		return nil, exit.Usagef("%s", strings.Join(problems, "\n"))
	}
	return slices.Clip(suites), nil
}

func (s subcommands) openSuite(name string) (*casetest.Suite, error) {
	file, err := casetest.Read(name)
	if err != nil {
		return nil, err
	}
	how, err := s.HowToRead(file.Definition)
	if err != nil {
		return nil, err
	}
	suite, err := casetest.Open(file, how)
	if err != nil {
		return nil, err
	}
	s.Tell(suite.Def.Source.Project())
	for _, w := range suite.Def.Source.Placed(suite.Def.Machine.Problems()) {
		s.WarnOf(suite.Def.Name, w)
	}
	return suite, nil
}
