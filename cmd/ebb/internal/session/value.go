package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

// Value returns the JSON value of a flag: its text, the file after @, or for - standard input.
func (s *Session) Value(flag, given string) (atom.Value, error) {
	var text []byte
	var err error
	name := flag
	switch {
	case given == "-":
		name = "standard input"
		if text, err = io.ReadAll(io.LimitReader(s.In, atom.MaxValue+1)); err != nil {
			return nil, limitedfile.Unreadable(name, err)
		}
	case given != "" && given[0] == '@':
		name = given[1:]
		if text, err = limitedfile.Read(name, atom.MaxValue); err != nil {
			return nil, err
		}
	default:
		text = []byte(given)
	}
	what := valueNames[flag]
	if len(text) > atom.MaxValue {
		return nil, exit.Usagef("%s: %s is larger than %d bytes", name, what, atom.MaxValue)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		fix := ""
		if name == flag {
			fix = " (for a file write @FILE)"
		}
		if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
			name = fmt.Sprintf("%s, character %d", name, broken.Offset)
		}
		return nil, exit.Usagef("%s: %s is no JSON: %w%s", name, what, err, fix)
	}
	return atom.FromJSON(text), nil
}

// valueNames are the names of flags' values in errors.
var valueNames = map[string]string{
	"--input": "the input", "--data": "the data", "--result": "the result", "--context": "the context object",
	"--variables": "the object of variables", "--mock-result": "the mocked result", "--reader-data": "the data",
}

// Input returns the input of a run that a flag gives, as [Session.Value] does; "" is {}.
func (s *Session) Input(given string) (atom.Value, error) {
	if given == "" {
		given = "{}"
	}
	return s.Value("--input", given)
}
