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

	"github.com/ebbflow/ebb/flow/asl"
)

// A session is one call of the command: what all of its commands share.
type session struct {
	in       io.Reader
	out, err io.Writer

	dsn    string
	output string
	level  string

	allow       []string // from where documents may be loaded
	definitions []string // that a file of flags names

	profile string
	edition asl.Profile // what profile names
}

// The forms of output.
const (
	asText = "text"
	asJSON = "json"
)

// execute runs the command and returns its exit status.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	s := &session{in: in, out: out, err: errs}
	root := s.command() //nolint:contextcheck // cobra hands the context to each command
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if told, ok := errors.AsType[*statusError](err); err != nil && (!ok || !told.told) {
		fmt.Fprintln(errs, "ebb:", err)
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
	flags.StringVar(&s.profile, "profile", asl.AWS.String(), "the edition of the States Language: aws or spec2016 (EBB_PROFILE)")
	flags.StringSliceVar(&s.allow, "allow", nil, "load documents that definitions name from the web, from below this URL; may be repeated (EBB_ALLOW)")
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
	edition, err := asl.ParseProfile(s.profile)
	s.edition = edition
	if err != nil {
		return usagef("%w", err)
	}
	return nil
}

func (s *session) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "ebb", Level: hclog.LevelFromString(s.level), Output: s.err})
}

// oneOf returns an error when a flag's value is none of the legal ones; "" is
// no value.
func oneOf(flag, value string, legal []string) error {
	if value == "" || slices.Contains(legal, value) {
		return nil
	}
	return usagef("--%s %s is not known (use one of %s)", flag, value, strings.Join(legal, ", "))
}
