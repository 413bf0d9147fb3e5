package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
)

// elements returns the elements of an array in a JSON file.
type elements struct {
	*objectText

	json   *json.Decoder
	at     int64 // offset of what json calls 0
	source string
}

// errNoArray is AWS's error for a file without an array where one is expected.
var errNoArray = errors.New("Attempting to map over non-iterable node.") //nolint:staticcheck,revive // AWS's words

// inArray replaces the part of an array that was read before. That part ended with an element.
const inArray = "[0"

func (t items) openJSON(p *place, pointer, from string) (source, error) {
	text, at, err := t.openText(p, from)
	if err != nil {
		return nil, err
	}
	e := &elements{objectText: text, json: json.NewDecoder(text), at: at, source: p.uri()}
	if from != "" {
		e.json = json.NewDecoder(io.MultiReader(strings.NewReader(inArray), text))
		e.at -= int64(len(inArray))
		pointer = ""
	}
	err = e.find(pointer)
	if err == nil && from != "" {
		var before any
		err = e.json.Decode(&before)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// find moves into the array that a JSON pointer names (RFC 6901).
func (e *elements) find(pointer string) error {
	parts := strings.Split(pointer, "/")[1:]
	if pointer == "" {
		parts = nil
	} else if !strings.HasPrefix(pointer, "/") {
		return fmt.Errorf("the ItemsPointer %s must begin with a slash", pointer)
	}
	for i := 0; ; i++ {
		token, err := e.json.Token()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", e.source, unexpected(err))
		case i == len(parts) && token == json.Delim('['):
			return nil
		case i == len(parts):
			return errNoArray
		}
		if err := e.enter(token, strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])); err != nil {
			return fmt.Errorf("%s: ItemsPointer %s: %w", e.source, pointer, err)
		}
	}
}

// enter moves to the value of a member, or to an element.
func (e *elements) enter(token json.Token, part string) error {
	for i := 0; e.json.More(); i++ {
		name := strconv.Itoa(i)
		switch token {
		case json.Delim('{'):
			key, err := e.json.Token()
			if err != nil {
				return unexpected(err)
			}
			name, _ = key.(string)
		case json.Delim('['):
		default:
			return fmt.Errorf("there is nothing inside of %v", token)
		}
		if name == part {
			return nil
		}
		if err := e.skip(); err != nil {
			return err
		}
	}
	return fmt.Errorf("there is no %q", part)
}

// maxSkipped is the maximum nesting of a skipped value, that of [json.Decoder.Decode].
const maxSkipped = 10_000

// skip skips a value of any size.
func (e *elements) skip() error {
	for depth := 0; ; {
		e.renew()
		token, err := e.json.Token()
		if err != nil {
			return unexpected(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxSkipped {
				return fmt.Errorf("a value before it has more than %d levels", maxSkipped)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (e *elements) next() (asl.Item, error) {
	e.renew()
	if !e.json.More() {
		if _, err := e.json.Token(); err != nil { // that closes the array
			return asl.Item{}, fmt.Errorf("%s: %w", e.source, unexpected(err))
		}
		return asl.Item{}, io.EOF
	}
	var value json.RawMessage
	if err := e.json.Decode(&value); err != nil {
		return asl.Item{}, fmt.Errorf("%s: %w", e.source, unexpected(err))
	}
	return asl.Item{Value: value, Source: e.source, Next: strconv.FormatInt(e.at+e.json.InputOffset(), 10)}, nil
}

// unexpected returns an error, also for io.EOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
