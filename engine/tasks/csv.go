package tasks

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/flow/asl"
)

// delimiters are the values of CSVDelimiter.
var delimiters = map[string]rune{"": ',', "COMMA": ',', "PIPE": '|', "SEMICOLON": ';', "SPACE": ' ', "TAB": '\t'}

// rows returns an object for each row of a CSV file. A too short row has "" for missing fields. The end of a too long
// one is dropped.
type rows struct {
	*objectText

	csv     *csv.Reader
	at      int64    // offset of what csv calls 0
	headers [][]byte // as JSON
	source  string
}

func (t items) openCSV(p *place, config *asl.ReaderConfig, from string) (source, error) {
	names := config.CSVHeaders
	if config.CSVHeaderLocation != "GIVEN" && config.ManifestType != "S3_INVENTORY" {
		first, err := t.rowsOf(p, config, "")
		if err != nil {
			return nil, err
		}
		names, err = first.csv.Read()
		if err = errors.Join(err, first.Close()); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", p.uri(), err)
		}
		if from == "" {
			from = strconv.FormatInt(first.at+first.csv.InputOffset(), 10)
		}
	}
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) < len(names) {
		return nil, errors.New("CSV headers cannot contain duplicates.") //nolint:staticcheck,revive // AWS's words
	}
	r, err := t.rowsOf(p, config, from)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		header, err := json.Marshal(name)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.headers = append(r.headers, header)
	}
	return r, nil
}

// rowsOf opens a CSV file at an offset.
func (t items) rowsOf(p *place, config *asl.ReaderConfig, from string) (*rows, error) {
	text, at, err := t.openText(p, from)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(text)
	if at == 0 {
		if mark, err := b.Peek(3); err == nil && string(mark) == "\ufeff" { // a byte order mark
			n, _ := b.Discard(len(mark))
			at += int64(n)
		}
	}
	r := &rows{objectText: text, csv: csv.NewReader(b), at: at, source: p.uri()}
	r.csv.Comma, r.csv.FieldsPerRecord, r.csv.LazyQuotes, r.csv.ReuseRecord = delimiters[config.CSVDelimiter], -1, true,
		true
	return r, nil
}

func (r *rows) next() (asl.Item, error) {
	r.renew()
	row, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return asl.Item{}, io.EOF
	}
	if err != nil {
		return asl.Item{}, fmt.Errorf("%s: %w", r.source, err)
	}
	text := []byte{'{'}
	for i, header := range r.headers {
		if i > 0 {
			text = append(text, ',')
		}
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		value, err := json.Marshal(cell)
		if err != nil {
			return asl.Item{}, err
		}
		text = append(append(append(text, header...), ':'), value...)
	}
	return asl.Item{Value: append(text, '}'), Source: r.source, Next: strconv.FormatInt(r.at+r.csv.InputOffset(), 10)}, nil
}
