package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
)

// An endless bucket has objects that begin with some text and repeat another without end.
type endless struct {
	tasks.Bucket

	begin, again string
}

func (b endless) Open(string) (io.ReadSeekCloser, error) {
	return &endlessText{left: []byte(b.begin), again: b.again}, nil
}

type endlessText struct {
	left  []byte
	again string
}

func (r *endlessText) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		r.left = []byte(r.again)
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (*endlessText) Seek(int64, int) (int64, error) { return 0, nil }

func (*endlessText) Close() error { return nil }

// TestReadingStops reads objects without end that contain no item.
//
// Attack (Large runs): An ItemReader over an object of endless empty lines, of endless values before the ItemsPointer,
// or of a gzip file that is read from far behind its start.
// Result: Reading ends when the run is suspended, cancelled or times out. A skipped value may have 10,000 levels.
func TestReadingStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, key, begin, again, from string
		config                        asl.ReaderConfig
		fails                         string // "" if only the context ends it
	}{
		{name: "empty lines", key: "f", again: strings.Repeat(" \n", 1000), config: asl.ReaderConfig{InputType: "JSONL"}},
		{name: "skipped values", key: "f", begin: `{"a":[`, again: "1,", config: asl.ReaderConfig{ItemsPointer: "/b"}},
		{
			name: "skipped levels", key: "f", begin: `{"a":`, again: "[", config: asl.ReaderConfig{ItemsPointer: "/b"},
			fails: "10000 levels",
		},
		{
			name: "packed", key: "f.gz", again: zipped(t, strings.Repeat(" \n", 100_000)), from: "9000000000000",
			config: asl.ReaderConfig{InputType: "JSONL"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &tasks.Registry{}
			r.AddBucket("b", endless{begin: c.begin, again: c.again})
			body, err := r.Task(asl.ReadItems)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if c.fails != "" {
				ctx = t.Context()
			}
			_, err = body.Execute(ctx, atom.Single(atom.MustEncode(asl.ItemQuery{
				Resource: getObject, Parameters: json.RawMessage(`{"Bucket": "b", "Key": "` + c.key + `"}`),
				ReaderConfig: c.config, From: c.from, Limit: 10,
			})))
			if c.fails == "" && !errors.Is(err, context.DeadlineExceeded) ||
				c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestOddKeys lists and flattens objects whose keys have line breaks, beside a folder whose name cannot be a key.
func TestOddKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "c\xff"), 0o700); err != nil {
		t.Skip(err) // some file systems, such as that of macOS, have no such names
	}
	for _, key := range []string{"a", "b\nc", "c\xff/x", "d"} {
		if err := os.WriteFile(filepath.Join(dir, key), []byte(`"`+key[:1]+"1\"\n\""+key[:1]+"2\"\n"), 0o600); err != nil {
			t.Skip(err) // likewise
		}
	}
	r := &tasks.Registry{}
	r.AddBucket("b", tasks.Folder(dir))
	items, err := read(t, r, asl.ItemQuery{
		Resource: listObjects, Parameters: json.RawMessage(`{"Bucket": "b"}`),
		ReaderConfig: asl.ReaderConfig{InputType: "JSONL", Transformation: "LOAD_AND_FLATTEN"},
	}, 1)
	if want := []string{`"a1"`, `"a2"`, `"b1"`, `"b2"`, `"d1"`, `"d2"`}; err != nil || !slices.Equal(items, want) {
		t.Errorf("%s: %v", items, err)
	}
}
