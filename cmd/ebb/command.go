package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
)

// A session is one call of the command: what all of its commands share.
type session struct {
	in       io.Reader
	out, err *view.Output

	drove bool // it has driven a run, whose end the exit status tells

	dsn    string
	output string
	level  string

	fileMode string // of a database that is created

	allow       []string // from where documents may be loaded
	definitions []string // that a file of flags names

	limited []string // what no run may exceed, NAME=N
	bounds  engine.Limits

	memory string // how much may be in use; bounds has it, too

	profile string
	edition asl.Profile // what profile names
}

// The forms of output.
const (
	asText = "text"
	asJSON = "json"
)

// The file modes.
const (
	privateMode = "private"
	folderMode  = "folder"
)

// execute runs the command and returns its exit status.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	return newSession(in, out, errs).execute(ctx, args)
}

func (s *session) execute(ctx context.Context, args []string) int {
	root := s.command() //nolint:contextcheck // cobra hands the context to each command
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	s.tell(err)
	return s.status(err)
}

func newSession(in io.Reader, out, errs io.Writer) *session {
	s := &session{in: in}
	s.out = &view.Output{To: out, JSON: func() bool { return s.output == asJSON }}
	s.err = &view.Output{To: errs, JSON: func() bool { return false }, Masked: true}
	return s
}

// tell tells the user of an error, unless that is known. An error may have several lines. Those behind the first are
// indented: a line break in an argument, or in a file's name, begins no line that looks like one of Ebb's own.
func (s *session) tell(err error) {
	told, is := errors.AsType[*statusError](err)
	_, lost := errors.AsType[*view.OutputError](err)
	if err != nil && !lost && (!is || !told.told) {
		fmt.Fprintln(s.err, "ebb: "+strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	if lost := s.out.Failure(); lost != nil && (s.drove || !lost.ClosedByReader()) {
		s.noticef("%v", lost)
	}
}

// status returns the exit status for an error of a command. When output was lost, a command that did well otherwise, and
// has not driven a run, did not do what it is for.
func (s *session) status(err error) int {
	_, lost := errors.AsType[*view.OutputError](err)
	switch {
	case lost && s.drove:
		return exitSuccess
	case lost, err == nil && s.out.Failure() != nil && !s.drove:
		return exitUnreachable
	}
	return statusOf(err)
}

func (s *session) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "ebb",
		Short:         "Ebb runs work that must either finish or be undone",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return s.settle(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	flags := root.PersistentFlags()
	flags.StringVar(&s.dsn, "dsn", "sqlite:ebb.db", "the database that runs are kept in: sqlite:FILE or postgres://… (EBB_DSN)")
	flags.StringVarP(&s.output, "output", "o", asText, "text or json (EBB_OUTPUT)")
	flags.StringVar(&s.level, "log-level", "off", "what to log to standard error: debug, info, warn, error or off (EBB_LOG_LEVEL)")
	flags.StringVar(&s.fileMode, "file-mode", privateMode, "who may use a new database: private, or folder for all who may write to its folder (EBB_FILE_MODE)")
	flags.StringVar(&s.profile, "profile", asl.AWS.String(), "the edition of the States Language: aws or spec2016 (EBB_PROFILE)")
	flags.StringSliceVar(&s.allow, "allow", nil,
		"load documents that definitions name from below this URL, or from this folder (file:///srv/apis/); may be repeated (EBB_ALLOW)")
	flags.StringSliceVar(&s.limited, runLimit, nil, runLimitHelp())
	flags.StringVar(&s.memory, memoryFlag, "", memoryHelp)
	root.AddCommand(
		s.runCommand(), s.resumeCommand(), s.serveCommand(), s.postCommand(), s.jobsCommand(),
		s.suspendCommand(), s.cancelCommand(), s.revertCommand(), s.retryCommand(), s.skipCommand(),
		s.signalCommand(), s.completeCommand(), s.limitCommand(), s.scheduleCommand(),
		s.showCommand(), s.whyCommand(), s.historyCommand(), s.listCommand(),
		s.validateCommand(), s.graphCommand(),
		s.pruneCommand(), s.backupCommand(), s.migrateCommand(), s.doctorCommand(), s.benchCommand(), s.versionCommand())
	for _, cmd := range root.Commands() {
		sayUse(cmd)
	}
	return root
}

// sayUse lets a command answer arguments that it does not take with how it is
// called.
func sayUse(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		sayUse(sub)
	}
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if _, own := errors.AsType[*statusError](err); err == nil || own {
			return err
		}
		return usagef("call it as: %s (ebb help %s tells more)", cmd.UseLine(), strings.TrimPrefix(cmd.CommandPath(), "ebb "))
	}
}

// settle takes from elsewhere what no flag says, and judges all of it.
func (s *session) settle(cmd *cobra.Command) error {
	if err := s.fromElsewhere(cmd); err != nil {
		return err
	}
	if s.output != asText && s.output != asJSON {
		return usagef("output %q is not known (use text or json)", s.output)
	}
	if s.level != "off" && hclog.LevelFromString(s.level) == hclog.NoLevel {
		return usagef("log level %q is not known (use debug, info, warn, error or off)", s.level)
	}
	if err := oneOf("file-mode", s.fileMode, []string{privateMode, folderMode}); err != nil {
		return err
	}
	bounds, err := s.runLimits()
	if err != nil {
		return err
	}
	if bounds.Memory, err = s.memoryBudget(); err != nil {
		return err
	}
	s.bounds = bounds
	edition, err := asl.ParseProfile(s.profile)
	s.edition = edition
	if err != nil {
		return usagef("%w", err)
	}
	return nil
}

func (s *session) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "ebb", Level: hclog.LevelFromString(s.level), Output: view.OneLine{To: s.err}})
}

// A standardLog makes debug entries of what packages tell the standard logger. Package net/http tells there what servers
// do wrong, in the servers' words: it is not for the operator, and it has not the form of the log.
type standardLog struct{ s *session }

// Write logs a line.
func (l standardLog) Write(line []byte) (int, error) {
	l.s.logger().Debug(strings.TrimSpace(string(line)))
	return len(line), nil
}

// oneOf returns an error when a flag's value is none of the legal ones; "" is
// no value.
func oneOf(flag, value string, legal []string) error {
	if value == "" || slices.Contains(legal, value) {
		return nil
	}
	return usagef("--%s %s is not known (use one of %s)", flag, value, strings.Join(legal, ", "))
}
