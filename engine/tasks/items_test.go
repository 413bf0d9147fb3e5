package tasks_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
)

const (
	getObject   = "arn:aws:states:::s3:getObject"
	listObjects = "arn:aws:states:::s3:listObjectsV2"
)

// bucketOf returns tasks with a bucket b that has files with these texts.
func bucketOf(t *testing.T, files map[string]string) *tasks.Registry {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &tasks.Registry{}
	r.AddBucket("b", tasks.Folder(dir))
	return r
}

// page reads one page.
func page(t *testing.T, r *tasks.Registry, q *asl.ItemQuery) (asl.ItemPage, error) {
	t.Helper()
	body, err := r.Task(asl.ReadItems)
	if err != nil {
		t.Fatal(err)
	}
	var p asl.ItemPage
	result, err := body.Execute(t.Context(), atom.Single(atom.MustEncode(q)))
	if err == nil {
		err = json.Unmarshal(result.JSON(), &p)
	}
	return p, err
}

// read reads all items, in pages of the given size.
func read(t *testing.T, r *tasks.Registry, q asl.ItemQuery, limit int) ([]string, error) {
	t.Helper()
	items := []string{}
	q.Limit, q.From = limit, ""
	for range 1000 {
		p, err := page(t, r, &q)
		if err != nil {
			return items, err
		}
		for _, item := range p.Items {
			items = append(items, string(item.Value))
			q.From = item.Next
		}
		if p.End {
			return items, nil
		}
	}
	t.Fatal("it does not end")
	return nil, nil
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const inventoryManifest = `{"sourceBucket": "x", "destinationBucket": "arn:aws:s3:::b", "fileFormat": "CSV",
	"fileSchema": "Bucket, Key, Size", "files": [{"key": "data/1.csv.gz", "size": 1}, {"key": "data/2.csv", "size": 1}]}`

// itemCases are contents of files, with the items that are read.
var itemCases = []struct {
	name     string
	resource string
	at       string // Parameters
	config   asl.ReaderConfig
	files    map[string]string
	want     []string
	fails    string // part of the error
}{
	{
		name: "header in the first row", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{
			InputType:         "CSV",
			CSVHeaderLocation: "FIRST_ROW",
		},
		files: map[string]string{"f": "a,b\r\n1,\"x\ny\"\n2\n3,4,5\n,\n   \n"},
		want: []string{
			`{"a":"1","b":"x\ny"}`, `{"a":"2","b":""}`, `{"a":"3","b":"4"}`, `{"a":"","b":""}`,
			`{"a":"   ","b":""}`,
		},
	},
	{
		name: "byte order mark", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{
			InputType:         "CSV",
			CSVHeaderLocation: "FIRST_ROW",
		},
		files: map[string]string{"f": "\ufeffa,b\n1,2\n3,4"}, want: []string{`{"a":"1","b":"2"}`, `{"a":"3","b":"4"}`},
	},
	{
		name: "given header and delimiter", at: `{"Bucket": "b", "Key": "d/f"}`,
		config: asl.ReaderConfig{
			InputType: "CSV", CSVHeaderLocation: "GIVEN", CSVHeaders: []string{"z", "a"},
			CSVDelimiter: "PIPE",
		},
		files: map[string]string{"d/f": "1|2\n\"3|\"|4\n"}, want: []string{`{"z":"1","a":"2"}`, `{"z":"3|","a":"4"}`},
	},
	{
		name: "packed", at: `{"Bucket": "b", "Key": "f.csv.gz"}`, config: asl.ReaderConfig{
			InputType:         "CSV",
			CSVHeaderLocation: "FIRST_ROW",
		},
		files: map[string]string{"f.csv.gz": "packed: a\n1\n2\n"}, want: []string{`{"a":"1"}`, `{"a":"2"}`},
	},
	{
		name: "two headers of a name", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{InputType: "CSV"},
		files: map[string]string{"f": "a,a\n1,2\n"}, fails: "CSV headers cannot contain duplicates.",
	},
	{
		name: "empty file", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{InputType: "CSV"},
		files: map[string]string{"f": ""}, want: []string{},
	},
	{
		name: "array", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{InputType: "JSON"},
		files: map[string]string{"f": ` [1, {"a": [2, 3]} ,"x", [ ] ] `}, want: []string{`1`, `{"a":[2,3]}`, `"x"`, `[]`},
	},
	{
		name: "empty array", at: `{"Bucket": "b", "Key": "f"}`, files: map[string]string{"f": `[]`}, want: []string{},
	},
	{
		name: "pointer", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{
			InputType:    "JSON",
			ItemsPointer: "/a~1b/1/c",
		},
		files: map[string]string{"f": `{"x": {"c": [0]}, "a/b": [[9], {"b": 1, "c": [4, 5]}], "c": [7]}`}, want: []string{
			`4`, `5`,
		},
	},
	{
		name: "pointer to nothing", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{ItemsPointer: "/a"},
		files: map[string]string{"f": `{"b": []}`},
		fails: `S3://b/f: ItemsPointer /a: there is no "a"`,
	},
	{
		name: "no array", at: `{"Bucket": "b", "Key": "f"}`, files: map[string]string{"f": `{"Hello": "world"}`},
		fails: "Attempting to map over non-iterable node.",
	},
	{
		name: "array that does not end", at: `{"Bucket": "b", "Key": "f"}`, files: map[string]string{"f": `[1, 2`},
		fails: "unexpected EOF", want: []string{`1`, `2`},
	},
	{
		name: "lines", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{InputType: "JSONL"},
		files: map[string]string{"f": "{\"a\": 1}\n\n 2 \r\n\"x\""}, want: []string{`{"a":1}`, `2`, `"x"`},
	},
	{
		name: "broken line", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{InputType: "JSONL"},
		files: map[string]string{"f": "1\n{\n"},
		want:  []string{`1`}, fails: "S3://b/f: the line at byte 2 is no JSON",
	},
	{
		name: "all files", resource: listObjects, at: `{"Bucket": "b", "Prefix": "in/"}`, config: asl.ReaderConfig{
			InputType: "JSONL", Transformation: "LOAD_AND_FLATTEN",
		},
		files: map[string]string{"in/a": "1\n2\n", "in/b/c": "", "in/d": "3\n", "out": "4\n"}, want: []string{`1`, `2`, `3`},
	},
	{
		name: "inventory", at: `{"Bucket": "b", "Key": "m.json"}`, config: asl.ReaderConfig{InputType: "MANIFEST"},
		files: map[string]string{
			"m.json": inventoryManifest, "data/1.csv.gz": "packed: b,k1,1\nb,k2,2\n",
			"data/2.csv": "b,k3,3\n",
		},
		want: []string{
			`{"Bucket":"b","Key":"k1","Size":"1"}`, `{"Bucket":"b","Key":"k2","Size":"2"}`,
			`{"Bucket":"b","Key":"k3","Size":"3"}`,
		},
	},
	{
		name: "list of files", at: `{"Bucket": "b", "Key": "m"}`, config: asl.ReaderConfig{
			InputType:    "JSONL",
			ManifestType: "ATHENA_DATA",
		},
		files: map[string]string{"m": "\"s3://b/x\"\ns3://b/y\n", "x": "1\n", "y": "2\n3\n"}, want: []string{`1`, `2`, `3`},
	},
	{
		name: "no such format", at: `{"Bucket": "b", "Key": "f"}`, config: asl.ReaderConfig{InputType: "PARQUET"},
		fails: "files of the InputType PARQUET cannot be read here; S3://b/f can be made CSV or JSONL first",
	},
	{name: "no such object", at: `{"Bucket": "b", "Key": "f"}`, fails: `the bucket b has no object "f"`},
	{
		name: "no such bucket", at: `{"Bucket": "c", "Key": "f"}`,
		fails: `no folder is named for the bucket "c" (ebb run has --bucket c=DIR for it)`,
	},
	{name: "no bucket", at: `[]`, fails: "must be given a Bucket"},
	{name: "out of the folder", at: `{"Bucket": "b", "Key": "../secret"}`, fails: "escapes"},
	{
		name: "another service", resource: "arn:aws:states:::dynamodb:scan", at: `{}`,
		fails: "cannot read from arn:aws:states:::dynamodb:scan here",
	},
}

// TestReadItems reads each file at once, and item by item as for a Map with one slot. The results must be equal.
func TestReadItems(t *testing.T) {
	t.Parallel()
	for _, c := range itemCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for name, text := range c.files {
				if rest, packed := strings.CutPrefix(text, "packed: "); packed {
					text = zipped(t, rest)
				}
				files[name] = text
			}
			r := bucketOf(t, files)
			q := asl.ItemQuery{Resource: getObject, Parameters: json.RawMessage(c.at), ReaderConfig: c.config}
			if c.resource != "" {
				q.Resource = c.resource
			}
			for _, limit := range []int{1, 2, 100} {
				got, err := read(t, r, q, limit)
				if c.fails != "" {
					if err == nil || !strings.Contains(err.Error(), c.fails) {
						t.Errorf("%d at once: error %v, want one with %q", limit, err, c.fails)
					}
					continue
				}
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("%d at once: %v (-want +got):\n%s", limit, err, diff)
				}
			}
		})
	}
}

// TestListItems lists objects in the order of S3, which compares bytes.
func TestListItems(t *testing.T) {
	t.Parallel()
	r := bucketOf(t, map[string]string{"p/b/x": "12", "p/b-x": "", "p/a": "1", "p/b.txt": "", "q": "", "p/c/d/e": ""})
	got, err := read(t, r, asl.ItemQuery{Resource: listObjects, Parameters: json.RawMessage(
		`{"Bucket": "b", "Prefix": "p/"}`)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, text := range got {
		var object struct {
			Key  string `json:"Key"`  //nolint:tagliatelle // AWS's name
			Size int64  `json:"Size"` //nolint:tagliatelle // AWS's name
		}
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if keys = append(keys, object.Key); object.Key == "p/b/x" && object.Size != 2 {
			t.Errorf("%s", text)
		}
	}
	if want := []string{"p/a", "p/b-x", "p/b.txt", "p/b/x", "p/c/d/e"}; !slices.Equal(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
}

// TestReadItemsBounded refuses an item that does not end before it fills the memory. It fills a page up to its size.
func TestReadItemsBounded(t *testing.T) {
	t.Parallel()
	r := bucketOf(t, map[string]string{
		"f": "a\n\"" + strings.Repeat("x", 5<<20),
		"g": strings.Repeat(`"`+strings.Repeat("y", 1000)+"\"\n", 100),
	})
	q := asl.ItemQuery{
		Resource: getObject, Parameters: json.RawMessage(`{"Bucket": "b", "Key": "f"}`),
		ReaderConfig: asl.ReaderConfig{InputType: "CSV"},
	}
	if _, err := page(t, r, &q); err == nil || !strings.Contains(err.Error(), "an item is larger than") {
		t.Errorf("error %v", err)
	}
	q = asl.ItemQuery{
		Resource: getObject, Parameters: json.RawMessage(`{"Bucket": "b", "Key": "g"}`), ReaderConfig: asl.ReaderConfig{
			InputType: "JSONL",
		}, Bytes: 10_000,
	}
	if p, err := page(t, r, &q); err != nil || len(p.Items) != 9 || p.End {
		t.Errorf("%d items, end %t: %v", len(p.Items), p.End, err)
	}
}

// TestWriteObjects writes parts twice, like a process that died in between, and never outside of the folder.
func TestWriteObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	r := &tasks.Registry{}
	r.AddBucket("b", tasks.Folder(dir))
	body, err := r.Task(asl.WriteObjects)
	if err != nil {
		t.Fatal(err)
	}
	write := func(parts ...asl.ObjectPart) error {
		_, err := body.Execute(t.Context(), atom.Single(atom.MustEncode(asl.ObjectWrite{Bucket: "b", Parts: parts})))
		return err
	}
	first, second := asl.ObjectPart{Key: "a/b.json", Text: "[1,2"}, asl.ObjectPart{Key: "a/b.json", Offset: 4, Text: ",3]"}
	for _, part := range []asl.ObjectPart{first, first, second, first, second, second} {
		if err := write(part); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "b.json")); err != nil || string(text) != "[1,2,3]" {
		t.Errorf("%s: %v", text, err)
	}
	for _, key := range []string{"../x", "a/../../x", "/x", "out/x", ""} {
		if err := write(asl.ObjectPart{Key: key, Text: "x"}); err == nil {
			t.Errorf("wrote to %q", key)
		}
	}
	if err := write(asl.ObjectPart{Key: "new", Offset: 3, Text: "x"}); err == nil {
		t.Error("wrote behind the end")
	}
}

// FuzzReadItems reads any text as any type, at once and item by item.
func FuzzReadItems(f *testing.F) {
	f.Add("a,b\n1,2\n", byte(0))
	f.Add(`[1, {"a": 2}]`, byte(1))
	f.Add("1\n2\n", byte(2))
	f.Fuzz(func(t *testing.T, text string, kind byte) {
		r := bucketOf(t, map[string]string{"f": text})
		q := asl.ItemQuery{
			Resource: getObject, Parameters: json.RawMessage(`{"Bucket": "b", "Key": "f"}`),
			ReaderConfig: asl.ReaderConfig{InputType: []string{"CSV", "JSON", "JSONL"}[kind%3]},
		}
		whole, err := read(t, r, q, 0)
		single, err1 := read(t, r, q, 1)
		if (err == nil) != (err1 == nil) || !slices.Equal(whole, single) && err == nil {
			t.Errorf("at once %v %v, one by one %v %v", whole, err, single, err1)
		}
	})
}
