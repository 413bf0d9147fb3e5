package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

// value returns the JSON that a flag gives: as it is, from the file behind @, or
// for - from standard input.
func (s *session) value(flag, given string) (atom.Value, error) {
	var text []byte
	var err error
	name := flag
	switch {
	case given == "-":
		name = "standard input"
		if text, err = io.ReadAll(io.LimitReader(s.in, atom.MaxValue+1)); err != nil {
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
		return nil, usagef("%s: %s is larger than %d bytes", name, what, atom.MaxValue)
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
		return nil, usagef("%s: %s is no JSON: %w%s", name, what, err, fix)
	}
	return atom.FromJSON(text), nil
}

// valueNames is how errors call what the flags give.
var valueNames = map[string]string{"--input": "the input", "--data": "the data", "--result": "the result"}
