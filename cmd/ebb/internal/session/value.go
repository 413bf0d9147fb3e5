package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

// Value returns the JSON value of a flag: its text, the file after @, or for - standard input.
func (s *Session) Value(flag, given string) (atom.Value, error) {
	text, name, err := s.Text(flag, given)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, exit.Usagef("%s: %s is not UTF-8", name, valueNames[flag])
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
		return nil, exit.Usagef("%s: %s is no JSON: %w%s", name, valueNames[flag], err, fix)
	}
	return atom.FromJSON(text), nil
}

// Text returns the text of a flag: as it is given, that of the file after @, or for - standard input. The name is that
// of the flag, of the file, or "standard input".
func (s *Session) Text(flag, given string) (text []byte, name string, err error) {
	name = flag
	switch {
	case given == "-":
		name = "standard input"
		if text, err = io.ReadAll(io.LimitReader(s.In, atom.MaxValue+1)); err != nil {
			return nil, name, limitedfile.Unreadable(name, err)
		}
	case given != "" && given[0] == '@':
		name = given[1:]
		if text, err = limitedfile.Read(name, atom.MaxValue); err != nil {
			return nil, name, err
		}
	default:
		text = []byte(given)
	}
	if len(text) > atom.MaxValue {
		return nil, name, exit.Usagef("%s: %s is larger than %d bytes", name, valueNames[flag], atom.MaxValue)
	}
	return text, name, nil
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
