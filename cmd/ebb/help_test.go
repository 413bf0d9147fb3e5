package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
)

// TestHelpExamples: the commands that help shows as examples can be called so.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	calls := regexp.MustCompile(`\bebb ([^|>)]*)`)
	words := regexp.MustCompile(`'[^']*'|\S+`)
	seen := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			look(sub)
		}
		for line := range strings.Lines(cmd.Example) {
			call := calls.FindStringSubmatch(line)
			if call == nil {
				t.Errorf("%s: %q calls no ebb", cmd.CommandPath(), line)
				continue
			}
			var args []string
			for _, word := range words.FindAllString(call[1], -1) {
				args = append(args, strings.Trim(word, "'"))
			}
			called, rest, err := command.Root(session.New(nil, nil, nil)).Find(args)
			if err == nil {
				err = called.ParseFlags(rest)
			}
			if err == nil {
				err = called.ValidateArgs(called.Flags().Args())
			}
			if err != nil || !strings.HasPrefix(called.CommandPath(), cmd.CommandPath()) {
				t.Errorf("%s is called as %s: %v", strings.TrimSpace(line), called.CommandPath(), err)
			}
			seen++
		}
	}
	look(command.Root(session.New(nil, nil, nil)))
	if seen < 30 {
		t.Errorf("there are %d examples only", seen)
	}
}

// TestHelpShowsOwnFlags: the help of a command has its own flags, and one line about those that all commands share.
func TestHelpShowsOwnFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args      []string
		has, not  string
		maxOfText int
	}{
		{[]string{"signal", "--help"}, "Global flags: ebb help flags", "--aws-endpoint", 40},
		{[]string{"signal", "--help"}, "--data", "--run-limit", 40},
		{[]string{"jobs", "--help"}, "Global flags: ebb help flags", "--aws-endpoint", 60},
		{[]string{"help", "flags"}, "--aws-endpoint", "Global flags", 60},
		{[]string{"help"}, "flags", "", 100},
	} {
		var out strings.Builder
		root := command.Root(session.New(nil, &out, &out))
		root.SetArgs(c.args)
		if err := root.Execute(); err != nil {
			t.Error(err)
		}
		if text := out.String(); !strings.Contains(text, c.has) || c.not != "" && strings.Contains(text, c.not) ||
			strings.Count(text, "\n") > c.maxOfText {
			t.Errorf("%v printed:\n%s", c.args, text)
		}
	}
}
