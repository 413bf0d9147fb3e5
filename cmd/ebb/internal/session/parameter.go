package session

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

// TemplateFlags adds the flags of commands that read templates.
func (s *Session) TemplateFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.parameters, "parameter", nil,
		"value of a parameter of a template, of an export that it imports, or of a placeholder, NAME=VALUE; or @FILE, "+
			"with an object of values; may be repeated")
}

// values returns the values of --parameter by name.
func (s *Session) values() (map[string]string, error) {
	values := map[string]string{}
	for _, given := range s.parameters {
		if file, is := strings.CutPrefix(given, "@"); is {
			if err := readValues(file, values); err != nil {
				return nil, err
			}
			continue
		}
		name, value, ok := strings.Cut(given, "=")
		if !ok || name == "" {
			return nil, exit.Usagef("--parameter %s: want NAME=VALUE, such as Stage=test, or @FILE", given)
		}
		values[name] = value
	}
	return values, nil
}

// readValues reads a file of values: an object, or a list as the AWS CLI has it.
func readValues(file string, into map[string]string) error {
	text, err := limitedfile.Read(file, maxConfig)
	if err != nil {
		return exit.Usagef("--parameter @%s: %w", file, err)
	}
	d, err := document.ParseYAML(text)
	if err != nil {
		return exit.Usagef("--parameter @%s: %w", file, err)
	}
	for _, item := range d.Items {
		into[item.Get("ParameterKey").Says()] = item.Get("ParameterValue").Says()
	}
	for _, m := range d.Members {
		if m.Value.Kind == document.List || m.Value.Kind == document.Object {
			return exit.Usagef("--parameter @%s:%d:%d: want a text or a number", file, m.Value.Line, m.Value.Column)
		}
		into[m.Name] = m.Value.Text
	}
	return nil
}
