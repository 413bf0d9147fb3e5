package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
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

// ConfigFlag is the name of the flag for a file with a command's flags. Commands that have it also take all their
// flags from the environment.
const ConfigFlag = "config"

// Variable begins the key of a command's annotation that names a variable of another program. The command takes a flag
// from it that is set nowhere else.
const Variable = "variable "

// definitionsKey is the key in that file for the arguments.
const definitionsKey = "definitions"

// variable returns the name of a flag's environment variable.
func variable(flag string) string {
	return "EBB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromElsewhere sets the flags that the command line does not set, from the environment or else from the file of
// --config.
func (s *Session) fromElsewhere(cmd *cobra.Command) error {
	names := globalFlags(cmd)
	config := cmd.Flags().Lookup(ConfigFlag)
	var written *document.Document
	s.warnOfVariables(cmd.Root())
	if config != nil {
		names = append(names, flagsElsewhere(cmd)...)
		if value := os.Getenv(variable(ConfigFlag)); value != "" && !config.Changed {
			if err := setAll(config, variable(ConfigFlag), value); err != nil {
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
			err = setAll(flag, variable(name), value)
		case os.Getenv(cmd.Annotations[Variable+name]) != "":
			err = setAll(flag, cmd.Annotations[Variable+name], os.Getenv(cmd.Annotations[Variable+name]))
		case written.Get(name) != nil:
			err = s.setFrom(flag, config.Value.String(), written.Get(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flagsElsewhere returns the command's own flags that a file and the environment may set; none if the command takes
// no file.
func flagsElsewhere(cmd *cobra.Command) (names []string) {
	if cmd.Flags().Lookup(ConfigFlag) == nil {
		return nil
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"help", "check", ConfigFlag}, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// taskVariables are the variables that tasks receive; a task may call this command.
var taskVariables = []string{"KEY", "RUN", "PATH", "INCARNATION", "ATTEMPT", "REVERT", "OUTCOME"}

// warnOfVariables warns of unknown variables that look like misspelled ones. Other programs may have variables with
// the same prefix.
func (s *Session) warnOfVariables(root *cobra.Command) {
	flags := append(globalFlags(root), ConfigFlag)
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
			s.Noticef("warning: %s is not known: did you mean %s%s?", name, variable(""), near)
		}
	}
}

// environment returns the value of a flag in the environment. The DSN, which may contain a password, can be in a
// file.
func environment(flag string) (string, error) {
	name := variable(flag)
	value := os.Getenv(name)
	file := os.Getenv(name + "_FILE")
	switch {
	case flag != "dsn" || file == "":
		return value, nil
	case value != "":
		return "", exit.Usagef("%[1]s and %[1]s_FILE are both set: which database is meant? Unset one", name)
	}
	text, err := limitedfile.Read(file, maxSecretFile)
	if err != nil {
		return "", exit.Usagef("%s_FILE: %w", name, err)
	}
	if isBlank(string(text)) {
		return "", exit.Usagef("%s_FILE: %s is blank: write the DSN into it", name, file)
	}
	return strings.TrimSpace(string(text)), nil
}

// maxSecretFile is the maximum size of a file with a secret.
const maxSecretFile = 256 << 10

// setAll sets a flag to the value of a variable. For a repeatable flag, commas separate the values.
func setAll(flag *pflag.Flag, variable, value string) error {
	values := []string{value}
	if flag.Value.Type() == "stringArray" {
		values = strings.Split(value, ",")
	}
	if err := checkBlank(flag, variable, values); err != nil {
		return err
	}
	for _, v := range values {
		if err := flag.Value.Set(v); err != nil {
			return exit.Usagef("%s=%s: %w", variable, value, err)
		}
	}
	return nil
}

// readConfig reads a file of flags; nil for "".
func (s *Session) readConfig(file string, names []string) (*document.Document, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // nothing is written
	}
	text, err := limitedfile.Read(file, maxConfig)
	if err != nil {
		return nil, exit.Usagef("--config %s: %w", file, err)
	}
	d, err := document.ParseYAML(text)
	if err != nil {
		return nil, exit.Usagef("%s:%w", file, err)
	}
	if d.Kind != document.Object {
		return nil, exit.Usagef("%s:%d:%d: want flags and their values, such as slots: 16", file, d.Line, d.Column)
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
		return nil, exit.Usagef("%w", errors.Join(errs...))
	}
	s.Definitions, err = textsOf(file, d.Get(definitionsKey))
	return d, err
}

// maxConfig is the maximum size of a file of flags.
//
//limit:http file of `--config` | {B}
const maxConfig = 1 << 20

// setFrom sets a flag from the file of flags.
func (s *Session) setFrom(flag *pflag.Flag, file string, value *document.Document) error {
	texts, err := textsOf(file, value)
	if err == nil {
		err = checkBlank(flag, fmt.Sprintf("%s:%d:%d: %s", file, value.Line, value.Column, flag.Name), texts)
	}
	if err != nil {
		return err
	}
	for _, text := range texts {
		if err := flag.Value.Set(text); err != nil {
			return exit.Usagef("%s:%d:%d: %s: %s: %w", file, value.Line, value.Column, flag.Name, text, err)
		}
	}
	return nil
}

// textsOf returns the texts of a value in a file of flags: itself, each element of a list, or KEY=VALUE for each
// member of an object.
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
				return nil, exit.Usagef("%s:%d:%d: want a text", file, item.Line, item.Column)
			}
			all = append(all, item.Text)
		}
		return all, nil
	default:
		var all []string
		for _, m := range value.Members {
			if m.Value.Kind == document.List || m.Value.Kind == document.Object {
				return nil, exit.Usagef("%s:%d:%d: want a text", file, m.Value.Line, m.Value.Column)
			}
			all = append(all, m.Name+"="+m.Value.Text)
		}
		return all, nil
	}
}
