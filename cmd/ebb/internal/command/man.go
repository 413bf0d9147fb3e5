package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

func (s subcommands) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages to a folder",
		Long: `Write a manual page for each command to a folder, such as /usr/local/share/man/man1. The folder
is created if it does not exist.`,
		Example: `  ebb man /usr/local/share/man/man1`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // all users may read manual pages
				return exit.Usagef("%w", err)
			}
			return writeManPages(cmd.Root(), args[0])
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
}

// writeManPages writes the page of a command, and those of its subcommands.
func writeManPages(cmd *cobra.Command, dir string) error {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeManPages(sub, dir); err != nil {
				return err
			}
		}
	}
	name := filepath.Join(dir, manName(cmd)+".1")
	return os.WriteFile(name, []byte(manPage(cmd)), 0o644) //nolint:gosec // all users may read manual pages
}

// manName returns the name of a command's page, such as ebb-jobs-release.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the manual page of a command, in the language of man(7).
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" Ebb \"Ebb\"\n", strings.ToUpper(manName(cmd)))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", roff(cmd.UseLine()))
	section("DESCRIPTION")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(strings.ReplaceAll(roff(text), "\n\n", "\n.PP\n") + "\n")
	manFlags(&b, "OPTIONS", cmd.LocalNonPersistentFlags())
	if cmd.Root() == cmd {
		manFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.PersistentFlags())
	}
	if cmd.Example != "" {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, manName(sub))
		}
	}
	section("SEE ALSO")
	for i, name := range also {
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), comma)
	}
	return b.String()
}

func manFlags(b *strings.Builder, head string, flags *pflag.FlagSet) {
	first := true
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if first {
			fmt.Fprintf(b, ".SH %s\n", head)
			first = false
		}
		name, usage := pflag.UnquoteUsage(f)
		line := "--" + f.Name
		if f.Shorthand != "" {
			line = "-" + f.Shorthand + ", " + line
		}
		if name != "" {
			line += " " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(line), roff(usage))
	})
}

// roff returns text for man(7): dashes that can be searched for, and no line that begins like a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
