package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/jsontext"
)

type streamed struct {
	Rows  []map[string]any  `json:"rows"`
	Raw   []json.RawMessage `json:"raw,omitempty"`
	Texts []string          `json:"texts,omitzero"`
	Bytes []byte            `json:"bytes,omitempty"`
	Next  string            `json:"next,omitempty"`
	At    time.Time         `json:"at,omitzero"`
	Of    *streamed         `json:"of,omitempty"`
	N     int64             `json:"n,omitempty"`
	Error error             `json:"error"`
}

// TestStream writes values as package json does, and each element of a list for itself.
func TestStream(t *testing.T) {
	t.Parallel()
	full := &streamed{
		[]map[string]any{{"a": "<b>"}, nil},
		[]json.RawMessage{[]byte(`{"x":1}`), []byte(`"<"`)},
		[]string{"\n", "ä"},
		[]byte("x"),
		"n", time.Unix(1, 0).UTC(), &streamed{}, 7, nil,
	}
	for i, value := range []any{
		full, *full,
		streamed{},
		&streamed{Texts: []string{}}, &streamed{Rows: []map[string]any{}}, nil, "x",
		[]int{1},
		(*streamed)(nil),
		struct{ A []int }{[]int{1}},
		struct {
			A []int `json:"a,omitempty"`
		}{},
		struct {
			streamed

			B []int `json:"b"`
		}{*full, nil},
	} {
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := errors.Join(e.Encode(value), jsontext.Stream(&got, value)); err != nil {
			t.Fatal(err)
		}
		text := bytes.TrimSuffix(want.Bytes(), []byte("\n"))
		if !bytes.Equal(got.Bytes(), text) {
			t.Errorf("%d: %s, want %s", i, &got, text)
		}
		small, ok, err := jsontext.StreamSmall(value, len(text))
		if !ok || err != nil || !bytes.Equal(small, text) {
			t.Errorf("%d: %s, %t, %v", i, small, ok, err)
		}
		if small, ok, err := jsontext.StreamSmall(value, len(text)-1); ok || err != nil {
			t.Errorf("%d: %s is too large, %v", i, small, err)
		}
	}
	if err := jsontext.Stream(&bytes.Buffer{}, &streamed{Rows: []map[string]any{{"f": func() {}}}}); err == nil {
		t.Error("a function is written")
	}
}
