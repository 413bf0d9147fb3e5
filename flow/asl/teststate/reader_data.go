package teststate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// itemsRead returns the items that an ItemReader finds in a source, as a JSON array: in a CSV file, lines of JSON, or
// JSON.
func itemsRead(config *syntax.ReaderConfig, source []byte) (*data.Value, *stateerror.Error) {
	var items []json.RawMessage
	var err error
	switch config.InputType {
	case "CSV":
		items, err = rowsRead(config, source)
	case "JSONL":
		items, err = linesRead(source)
	default:
		items, err = elementsRead(config.ItemsPointer, source)
	}
	if err != nil {
		return nil, &stateerror.Error{Name: stateerror.ItemReader, Cause: err.Error()}
	}
	return data.Text(atom.MustEncode(items)), nil
}

// elementsRead returns the elements of the array that a JSON pointer names (RFC 6901).
func elementsRead(pointer string, text json.RawMessage) ([]json.RawMessage, error) {
	parts := strings.Split(pointer, "/")[1:]
	if pointer == "" {
		parts = nil
	} else if pointer[0] != '/' {
		return nil, fmt.Errorf("the ItemsPointer %s must begin with a slash", pointer)
	}
	for _, part := range parts {
		var object map[string]json.RawMessage
		var array []json.RawMessage
		name, found := strings.NewReplacer("~1", "/", "~0", "~").Replace(part), false
		if json.Unmarshal(text, &object) == nil {
			text, found = object[name]
		} else if i, err := strconv.Atoi(name); err == nil && json.Unmarshal(text, &array) == nil {
			if found = i >= 0 && i < len(array); found {
				text = array[i]
			}
		}
		if !found {
			return nil, fmt.Errorf("ItemsPointer %s: there is no %q", pointer, part)
		}
	}
	items := []json.RawMessage{}
	if err := json.Unmarshal(text, &items); err != nil || items == nil {
		//nolint:staticcheck,revive // AWS's words
		return nil, errors.New("Attempting to map over non-iterable node.")
	}
	return items, nil
}

// linesRead returns the lines, each a JSON text.
func linesRead(text []byte) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil, fmt.Errorf("line %d is not JSON", len(items)+1)
		}
		items = append(items, line)
	}
	return items, nil
}

// delimiters are the values of CSVDelimiter.
var delimiters = map[string]rune{"": ',', "COMMA": ',', "PIPE": '|', "SEMICOLON": ';', "SPACE": ' ', "TAB": '\t'}

// rowsRead returns an object for each row of a CSV file. A row that is too short has "" for what is missing; of one
// that is too long the end is dropped.
func rowsRead(config *syntax.ReaderConfig, text []byte) ([]json.RawMessage, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = delimiters[config.CSVDelimiter], -1, true
	rows, err := r.ReadAll()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	names := config.CSVHeaders
	if config.CSVHeaderLocation != "GIVEN" && len(rows) > 0 {
		names, rows = rows[0], rows[1:]
	}
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) < len(names) {
		return nil, errors.New("CSV headers cannot contain duplicates.") //nolint:staticcheck,revive // AWS's words
	}
	items := make([]json.RawMessage, 0, len(rows))
	for _, row := range rows {
		item := []byte{'{'}
		for i, name := range names {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			member, err := json.Marshal(map[string]string{name: cell})
			if err != nil {
				return nil, err
			}
			if i > 0 {
				item = append(item, ',')
			}
			item = append(item, member[1:len(member)-1]...)
		}
		items = append(items, append(item, '}'))
	}
	return items, nil
}
