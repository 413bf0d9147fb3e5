package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/spelling"
)

// globalFlags returns the names of the flags that all commands have. Each command takes them from the environment.
func globalFlags(cmd *cobra.Command) (names []string) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names
}

// configFlag names the file in which a command's flags may be written, for commands
// that have it. Those take all their flags from the environment, too.
const configFlag = "config"

// definitionsKey names in that file what stands behind the flags.
const definitionsKey = "definitions"

// variable is what the environment calls a flag.
func variable(flag string) string {
	return "EBB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromElsewhere sets the flags that the command line does not: from the environment,
// else from the file of --config.
func (s *session) fromElsewhere(cmd *cobra.Command) error {
	names := globalFlags(cmd)
	config := cmd.Flags().Lookup(configFlag)
	var written *document.Document
	s.warnOfVariables(cmd.Root())
	if config != nil {
		names = append(names, flagsElsewhere(cmd)...)
		if value := os.Getenv(variable(configFlag)); value != "" && !config.Changed {
			if err := config.Value.Set(value); err != nil {
				return err
			}
		}
		var err error
		if written, err = s.readConfig(config.Value.String(), names); err != nil {
			return err
		}
	}
	for _, name := range names {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || flag.Changed {
			continue
		}
		value, err := environment(name)
		switch {
		case err != nil:
			return err
		case value != "":
			err = setAll(flag, value)
		case written.Get(name) != nil:
			err = s.setFrom(flag, config.Value.String(), written.Get(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flagsElsewhere returns those of a command's own flags that a file, and the
// environment, may have; none of a command that takes no file.
func flagsElsewhere(cmd *cobra.Command) (names []string) {
	if cmd.Flags().Lookup(configFlag) == nil {
		return nil
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"help", "check", configFlag}, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// taskVariables are those that programs are given as tasks, which may call this command.
var taskVariables = []string{"KEY", "RUN", "PATH", "INCARNATION", "ATTEMPT", "REVERT", "OUTCOME"}

// warnOfVariables says which variables were probably meant by those that no command
// knows. Others may have their own that begin alike.
func (s *session) warnOfVariables(root *cobra.Command) {
	flags := append(globalFlags(root), configFlag)
	for _, cmd := range root.Commands() {
		flags = append(flags, flagsElsewhere(cmd)...)
	}
	known := []string{"DSN_FILE"}
	for _, name := range flags {
		known = append(known, strings.TrimPrefix(variable(name), variable("")))
	}
	for _, set := range os.Environ() {
		name, value, _ := strings.Cut(set, "=")
		own, is := strings.CutPrefix(name, variable(""))
		if !is || value == "" || slices.Contains(known, own) || slices.Contains(taskVariables, own) {
			continue
		}
		if near := spelling.Nearest(own, known); near != "" {
			s.noticef("warning: %s is not known: did you mean %s%s?", name, variable(""), near)
		}
	}
}

// environment returns what the environment says of a flag. The DSN, which may have a
// password in it, can stand in a file.
func environment(flag string) (string, error) {
	name := variable(flag)
	value := os.Getenv(name)
	file := os.Getenv(name + "_FILE")
	switch {
	case flag != "dsn" || file == "":
		return value, nil
	case value != "":
		return "", usagef("%[1]s and %[1]s_FILE are both set: which database is meant? Unset one", name)
	}
	text, err := limitedfile.Read(file, maxSecretFile)
	if err != nil {
		return "", usagef("%s_FILE: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// maxSecretFile is how large a file with secrets may be.
const maxSecretFile = 256 << 10

// setAll sets a flag to what a variable says: for one that may be repeated, values
// parted by commas.
func setAll(flag *pflag.Flag, value string) error {
	values := []string{value}
	if flag.Value.Type() == "stringArray" {
		values = strings.Split(value, ",")
	}
	for _, v := range values {
		if err := flag.Value.Set(v); err != nil {
			return usagef("%s=%s: %w", variable(flag.Name), value, err)
		}
	}
	return nil
}

// readConfig reads a file of flags; nil for "".
func (s *session) readConfig(file string, names []string) (*document.Document, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // nothing is written
	}
	text, err := limitedfile.Read(file, maxConfig)
	if err != nil {
		return nil, usagef("--config %s: %w", file, err)
	}
	d, err := document.ParseYAML(text)
	if err != nil {
		return nil, usagef("%s:%w", file, err)
	}
	if d.Kind != document.Object {
		return nil, usagef("%s:%d:%d: want flags and their values, such as slots: 16", file, d.Line, d.Column)
	}
	known := append(slices.Clone(names), definitionsKey)
	var errs []error
	for i := range d.Members {
		m := &d.Members[i]
		if slices.Contains(known, m.Name) {
			continue
		}
		meant := "there are " + strings.Join(known, ", ")
		if near := spelling.Nearest(m.Name, known); near != "" {
			meant = "did you mean " + near + "?"
		}
		errs = append(errs, fmt.Errorf("%s:%d:%d: %s is no flag: %s", file, m.Line, m.Column, m.Name, meant))
	}
	if len(errs) > 0 {
		return nil, usagef("%w", errors.Join(errs...))
	}
	s.definitions, err = textsOf(file, d.Get(definitionsKey))
	return d, err
}

// maxConfig is how large a file of flags may be.
const maxConfig = 1 << 20

// setFrom sets a flag to what is written of it.
func (s *session) setFrom(flag *pflag.Flag, file string, value *document.Document) error {
	texts, err := textsOf(file, value)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if err := flag.Value.Set(text); err != nil {
			return usagef("%s:%d:%d: %s: %s: %w", file, value.Line, value.Column, flag.Name, text, err)
		}
	}
	return nil
}

// textsOf returns what a value of a file of flags stands for: itself, each of a list,
// or KEY=VALUE for each member of an object.
func textsOf(file string, value *document.Document) ([]string, error) {
	if value == nil {
		return nil, nil
	}
	switch value.Kind {
	case document.Text, document.Literal:
		return []string{value.Text}, nil
	case document.List:
		var all []string
		for _, item := range value.Items {
			if item.Kind == document.List || item.Kind == document.Object {
				return nil, usagef("%s:%d:%d: want a text", file, item.Line, item.Column)
			}
			all = append(all, item.Text)
		}
		return all, nil
	default:
		var all []string
		for _, m := range value.Members {
			if m.Value.Kind == document.List || m.Value.Kind == document.Object {
				return nil, usagef("%s:%d:%d: want a text", file, m.Value.Line, m.Value.Column)
			}
			all = append(all, m.Name+"="+m.Value.Text)
		}
		return all, nil
	}
}
