package command

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/enginebench"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

const (
	// completionTime bounds how long the shell waits for candidates.
	completionTime = 500 * time.Millisecond
	// completionReads is how many of the newest records are searched for candidates.
	completionReads = 500
	// completionOffers is how many candidates are offered.
	completionOffers = 100
)

// candidates returns the words that may complete an argument, each with a description after a tab. It receives the
// arguments before that one.
type candidates func(ctx context.Context, store *sqlstore.Store, args []string) ([]string, error)

// wordCandidates are the candidates for the arguments in a command's usage line. A key that begins with a command is
// only for that command.
var wordCandidates = map[string]candidates{
	"RUN": runCandidates, "ATOM": atomCandidates, "JOB": jobCandidates, "ID": scheduleCandidates, "FLOW": flowCandidates,
	"TOKEN": tokenCandidates, "NAME": signalCandidates,
	"cancel RUN": openCandidates, "suspend RUN": openCandidates, "signal RUN": openCandidates,
}

// flagCandidates are the candidates for the values of flags, with keys as in wordCandidates.
var flagCandidates = map[string]candidates{
	"flow": flowCandidates, "run": runCandidates, "before": runCandidates, "revert to": atomCandidates,
	"show state": stateCandidates, "task": queueCandidates,
}

// flagValues are the values of flags that have few values, with keys as in wordCandidates.
var flagValues = map[string][]string{
	"output": {"text", "json"}, "log-format": {"text", "json"}, "log-level": {"debug", "info", "warn", "error", "off"},
	"profile": {"aws", "spec2016"}, "file-mode": {"private", "folder"}, "expect": restStates,
	"list state":        {"PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTED", "SUSPENDING", "SUSPENDED"},
	"format":            graphFormats,
	"level":             inspectionLevels,
	"workload":          enginebench.Names(),
	"aws":               onOrOff,
	"language":          languages,
	"type":              machineTypes,
	"test-state expect": testStatuses, "mock-validation": validationModes,
}

// wordValues are the values of arguments that have few values.
var wordValues = map[string][]string{"COMMAND": bulk.Commands()}

// ofCommand returns a table's entry for a name in a command: the entry for this command or else the entry for all
// commands.
func ofCommand[T any](table map[string]T, cmd *cobra.Command, name string) (T, bool) {
	if found, is := table[cmd.Name()+" "+name]; is {
		return found, true
	}
	found, is := table[name]
	return found, is
}

// offerWords lets the shell complete the arguments and flags of a command and of its subcommands.
func (s subcommands) offerWords(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		s.offerWords(sub)
	}
	if words := strings.Fields(cmd.Use)[1:]; len(words) > 0 && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= len(words) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			word := strings.Trim(words[len(args)], "[]")
			rest := cobra.ShellCompDirectiveNoFileComp
			if strings.Contains(word, "FILE") {
				rest = cobra.ShellCompDirectiveDefault
			}
			var offers []string
			for kind := range strings.SplitSeq(word, "|") {
				kind, _, _ = strings.Cut(kind, "[")
				offers = append(offers, wordValues[kind]...)
				if find, is := ofCommand(wordCandidates, cmd, kind); is {
					offers = append(offers, s.offers(cmd, find, args, begun)...)
				}
			}
			return offers, rest
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values, fixed := ofCommand(flagValues, cmd, f.Name)
		find, found := ofCommand(flagCandidates, cmd, f.Name)
		if !fixed && !found {
			return
		}
		// It fails only for a flag that does not exist, or that is registered twice.
		_ = cmd.RegisterFlagCompletionFunc(f.Name,
			func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				if fixed {
					return values, cobra.ShellCompDirectiveNoFileComp
				}
				name, value, is := strings.Cut(begun, "=")
				switch {
				case !is && strings.Contains(f.Usage, "NAME="):
					return nil, cobra.ShellCompDirectiveNoFileComp
				case !is:
					return s.offers(cmd, find, args, begun), cobra.ShellCompDirectiveNoFileComp
				}
				offers := s.offers(cmd, find, args, value)
				for i := range offers {
					offers[i] = name + "=" + offers[i]
				}
				return offers, cobra.ShellCompDirectiveNoFileComp
			})
	})
}

// offers returns the candidates that begin like a word. It neither creates nor migrates a database. It reports no
// errors, because the command will report them.
func (s subcommands) offers(cmd *cobra.Command, find candidates, args []string, begun string) []string {
	ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
	defer stop()
	s.Err = &view.Output{To: io.Discard, JSON: func() bool { return false }}
	if err := s.Settle(cmd, nil); err != nil {
		return nil
	}
	var found []string
	err := s.WithStore(ctx, func(store *sqlstore.Store) (err error) {
		found, err = find(ctx, store, args)
		return err
	}, sqlstore.ReadOnly())
	if err != nil {
		return nil
	}
	found = slices.DeleteFunc(found, func(c string) bool {
		name, _, _ := strings.Cut(c, "\t")
		return !strings.HasPrefix(name, begun) || !visible.All(name)
	})
	return found[:min(len(found), completionOffers)]
}
