package tasks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ebbflow/ebb/flow/asl"
)

// lines returns the value in each line of a JSONL file. It skips empty lines.
type lines struct {
	*objectText

	text   *bufio.Reader
	at     int64
	source string
}

func (t items) openLines(p *place, from string) (source, error) {
	text, at, err := t.openText(p, from)
	if err != nil {
		return nil, err
	}
	return &lines{objectText: text, text: bufio.NewReader(text), at: at, source: p.uri()}, nil
}

func (l *lines) next() (asl.Item, error) {
	for {
		l.renew()
		line, err := l.text.ReadBytes('\n')
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return asl.Item{}, err
		}
		begin := l.at
		l.at += int64(len(line))
		value := bytes.TrimSpace(line)
		if len(value) == 0 {
			continue
		}
		if !json.Valid(value) {
			return asl.Item{}, fmt.Errorf("%s: the line at byte %d is no JSON", l.source, begin)
		}
		return asl.Item{Value: value, Source: l.source, Next: strconv.FormatInt(l.at, 10)}, nil
	}
}
