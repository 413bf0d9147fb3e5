package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
)

// Execute runs the command with these arguments, and returns its exit status.
func Execute(ctx context.Context, s *session.Session, args []string) int {
	root := Root(s) //nolint:contextcheck // cobra hands the context to each command
	root.SetArgs(args)
	return s.Finish(root.ExecuteContext(ctx))
}

// The subcommands share one session. Each file contains one of them.
type subcommands struct{ *session.Session }

// Root returns the command with all of its subcommands.
func Root(s *session.Session) *cobra.Command {
	root := &cobra.Command{
		Use:               "ebb",
		Short:             "Ebb runs work that must either finish or be undone",
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.NoArgs,
		PersistentPreRunE: s.Settle,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	s.AddFlags(root.PersistentFlags())
	c := subcommands{s}
	add := func(group string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: group, Title: group + ":"})
		for _, cmd := range commands {
			cmd.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add("Drive runs", c.runCommand(), c.resumeCommand(), c.serveCommand(), c.emulateCommand())
	add("Post and limit work", c.postCommand(), c.watchable(c.jobsCommand()), c.scheduleCommand(), c.limitCommand())
	add("Command runs", c.suspendCommand(), c.cancelCommand(), c.revertCommand(), c.retryCommand(), c.skipCommand(),
		c.signalCommand(), c.completeCommand(), c.bulkCommand())
	add("See runs", c.watchable(c.listCommand()), c.watchable(c.waitingCommand()), c.watchable(c.processesCommand()),
		c.watchable(c.showCommand()), c.watchable(c.whyCommand()), c.historyCommand(), c.graphCommand(),
		c.auditCommand(), c.topCommand(), c.consoleCommand())
	add("Keep the database", c.pruneCommand(), c.backupCommand(), c.migrateCommand(), c.doctorCommand(),
		c.definitionsCommand())
	add("Check definitions", c.validateCommand(), c.testCommand(), c.testStateCommand(), c.plainCommand())
	add("Begin and measure", c.demoCommand(), c.manCommand(), c.benchCommand(), c.versionCommand())
	for _, cmd := range root.Commands() {
		sayUse(cmd)
	}
	root.AddCommand(&cobra.Command{
		Use: "flags", Short: "Flags of all commands",
		Long: "Each command takes these flags, besides its own:\n\n" + root.PersistentFlags().FlagUsages(),
	})
	// A command's help shows its own flags. What all share would hide them.
	own, _, _ := strings.Cut(root.UsageTemplate(), "{{if .HasAvailableInheritedFlags}}")
	root.SetUsageTemplate(own + "{{if .HasAvailableInheritedFlags}}\n\nGlobal flags: ebb help flags{{end}}" +
		"{{if .HasAvailableSubCommands}}\n\nMore: {{.CommandPath}} COMMAND --help{{end}}\n")
	c.offerWords(root)
	return root
}

// sayUse makes a command answer wrong arguments with its usage.
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
		if _, own := errors.AsType[*exit.Error](err); err == nil || own {
			return err
		}
		return exit.Usagef("usage: %s (see ebb help %s)", cmd.UseLine(),
			strings.TrimPrefix(cmd.CommandPath(), "ebb "))
	}
}
