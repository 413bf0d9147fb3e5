package grpc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/ebbflow/ebb/engine/grpc"
)

// files are the files that can be loaded, by their URIs. asked are the URIs that were requested.
type files struct {
	texts map[string]string
	asked []string
}

func (f *files) load(uri string) ([]byte, error) {
	f.asked = append(f.asked, uri)
	if text, is := f.texts[uri]; is {
		return []byte(text), nil
	}
	return nil, errors.New("there is no such file")
}

const orders = `syntax = "proto3"; package shop; import "money.proto"; import "google/protobuf/any.proto";
service Orders { rpc Get(Money) returns (Money); }`

const money = `syntax = "proto3"; package shop; message Money { int64 units = 1; }`

// TestSchema: imports are found beside the file and in the folders above it, built-in files are not loaded, and the
// result is the same for the same files. A set of descriptors gives the same schema as the text.
//
// Guarantee (gRPC): The schema and its imports become part of the stored definition, as a `FileDescriptorSet` in
// JSON. Imports are looked up beside the file, then in the folders above.
// Also: `TestSchemaRefused`.
func TestSchema(t *testing.T) {
	t.Parallel()
	at := func(place string) *files {
		return &files{texts: map[string]string{"https://example.org/a/b/orders.proto": orders, place: money}}
	}
	beside, above := at("https://example.org/a/b/money.proto"), at("https://example.org/money.proto")
	first, err := grpc.Schema(t.Context(), "https://example.org/a/b/orders.proto", beside.load)
	if err != nil {
		t.Fatal(err)
	}
	second, err := grpc.Schema(t.Context(), "https://example.org/a/b/orders.proto", above.load)
	if err != nil || string(first) != string(second) {
		t.Errorf("%v; the schemas are\n%s and\n%s", err, first, second)
	}
	if want := []string{
		"https://example.org/a/b/orders.proto", "https://example.org/a/b/money.proto", "https://example.org/a/money.proto",
		"https://example.org/money.proto",
	}; !slices.Equal(above.asked, want) {
		t.Errorf("%q were asked for; want %q", above.asked, want)
	}

	set := &descriptorpb.FileDescriptorSet{}
	if err := protojson.Unmarshal(first, set); err != nil {
		t.Fatal(err)
	}
	binary, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	stored := &files{texts: map[string]string{"orders.binpb": string(binary)}}
	if third, err := grpc.Schema(t.Context(), "orders.binpb", stored.load); err != nil || string(third) != string(first) {
		t.Errorf("%v; the schema of the set is\n%s", err, third)
	}
}

// TestSchemaRefused: the error names the file and the line.
func TestSchemaRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ uri, text, want string }{
		"syntax":         {"a.proto", "syntax = \"proto3\";\nmessage {", "a.proto:2:9"},
		"missing import": {"a.proto", "syntax = \"proto3\";\nimport \"b.proto\";", "a.proto:2:8"},
		"import above":   {"a.proto", "syntax = \"proto3\";\nimport \"../b.proto\";", "a.proto:2:8"},
		"absolute":       {"a.proto", "syntax = \"proto3\";\nimport \"/etc/passwd\";", "a.proto:2:8"},
		"other file":     {"a.proto", "syntax = \"proto3\";\nimport \"passwd\";", "a.proto:2:8"},
		"circle":         {"a.proto", "syntax = \"proto3\";\nimport \"a.proto\";", "a.proto:2:8"},
		"not a set":      {"a.binpb", "syntax = \"proto3\";", "not a set of descriptors"},
		"empty set":      {"a.pb", "", "not a set of descriptors"},
		"missing file":   {"b.proto", "", "no such file"},
	} {
		f := &files{texts: map[string]string{"a.proto": c.text, "a.binpb": c.text, "a.pb": c.text}}
		_, err := grpc.Schema(t.Context(), c.uri, f.load)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// TestHostileSchemas: a file that nests deeply, or has very many elements, is read or refused in bounded time.
func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	const most = 1 << 17 // bytes; loaders return up to eight times as many
	repeat := func(text string) string { return strings.Repeat(text, most/len(text)-1) }
	for name, text := range map[string]string{
		"messages":  repeat("message A{"),
		"closed":    strings.Repeat("message A{", most/12) + strings.Repeat("}", most/12),
		"options":   "option (a) = " + repeat("{a "),
		"arrays":    "option (a) = {a: " + repeat("["),
		"fields":    "message A {" + repeat("int32 a=1;") + "}",
		"many":      repeat("message A{}"),
		"parens":    "option a = " + repeat("("),
		"dots":      "message A { " + repeat("a.") + "b c = 1; }",
		"signs":     "option a = " + repeat("-"),
		"strings":   "option a = " + repeat("''"),
		"comments":  repeat("/**/"),
		"enum":      "enum A {" + repeat("B=0;") + "}",
		"extension": "message A { extensions " + repeat("1,") + "2; }",
		"reserved":  "message A { reserved " + repeat("1,") + "2; }",
		"oneof":     "message A { " + repeat("oneof a {") + "}",
		"groups":    "message A { " + repeat("optional group A = 1 {") + "}",
		"services":  "service A { " + repeat("rpc A(A) returns (A);") + "}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := grpc.Schema(t.Context(), "a.proto", func(string) ([]byte, error) {
				return []byte("syntax = \"proto3\";" + text), nil
			})
			if err != nil && len(err.Error()) > 4<<10 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// FuzzSchema: any file is read or refused in bounded time.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(orders), true)
	f.Add([]byte(money), true)
	f.Add([]byte("\n\x10\n\x01a\x12\x01b"), false)
	f.Add([]byte("syntax = \"proto3\"; option (x) = {a {a {a {}}}};"), true)
	f.Fuzz(func(t *testing.T, text []byte, source bool) {
		uri := "a.binpb"
		if source {
			uri = "a.proto"
		}
		stored, err := grpc.Schema(t.Context(), uri, func(string) ([]byte, error) { return text, nil })
		if err != nil {
			return
		}
		caller := &grpc.Caller{Documents: func(string) ([]byte, error) { return stored, nil }}
		if _, err := caller.Task("grpc:a#b.C#d"); err == nil {
			t.Error("a method was found")
		}
	})
}
