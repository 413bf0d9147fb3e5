package grpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/redact"
)

// Limits of schemas.
const (
	//limit:sm4c schema of gRPC: files; bytes; time to compile it (`engine/grpc`) | {}; {maxSchema B}; {compileTime}
	//limit:and | refused
	maxFiles    = 200
	maxSchema   = 4 << 20          // bytes of all its files
	maxError    = 1 << 10          // length of an error, which quotes names
	compileTime = 10 * time.Second // time to compile them
)

// IsSchema reports whether a URI names a schema by its ending: .proto for the text, and .binpb, .pb, .desc, .protoset
// for a set of descriptors as protoc --descriptor_set_out --include_imports writes it.
func IsSchema(uri string) bool {
	switch path.Ext(pathOf(uri)) {
	case ".proto", ".binpb", ".pb", ".desc", ".protoset":
		return true
	}
	return false
}

// Schema returns the schema that a URI names, with everything that it imports, in the form in which it is stored with
// a definition: the JSON mapping of a google.protobuf.FileDescriptorSet. Load returns the content of a URI.
//
// An import is looked up beside the file that the URI names, then in each folder above that file. The types of
// google/protobuf are built in. If a file cannot be loaded or compiled, the error names the file and the line.
func Schema(ctx context.Context, uri string, load func(uri string) ([]byte, error)) ([]byte, error) {
	if path.Ext(pathOf(uri)) != ".proto" {
		text, err := load(uri)
		if err != nil {
			return nil, err
		}
		return fromSet(text)
	}
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	l := &loading{load: load, folder: path.Dir(pathOf(uri)), uri: uri}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(protocompile.ResolverFunc(l.find)),
		MaxParallelism: 1,
	}
	files, err := compiler.Compile(ctx, path.Base(pathOf(uri)))
	if err != nil {
		return nil, errors.New(clip.Text(redact.Text(err.Error()), maxError))
	}
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	for _, file := range files {
		appendFile(set, file, seen)
	}
	return toJSON(set)
}

// A loading is the state while the files of a schema are loaded.
type loading struct {
	load   func(uri string) ([]byte, error)
	uri    string // of the first file
	folder string // of the first file
	files  int
	size   int
}

// find returns the file of an import: beside the first file, or in one of the folders above.
func (l *loading) find(name string) (protocompile.SearchResult, error) {
	var result protocompile.SearchResult
	if strings.HasPrefix(name, "google/protobuf/") {
		return result, errBuiltIn
	}
	if l.files++; l.files > maxFiles {
		return result, fmt.Errorf("the schema has more than %d files", maxFiles)
	}
	if !isLocal(name) || path.Ext(name) != ".proto" { // errors quote what is in the file
		return result, errors.New("an import names a .proto file below a folder")
	}
	var first error
	for folder := l.folder; ; folder = path.Dir(folder) {
		text, err := l.load(withPath(l.uri, path.Join(folder, name)))
		if err == nil {
			if l.size += len(text); l.size > maxSchema {
				return result, fmt.Errorf("the schema is larger than %d bytes", maxSchema)
			}
			result.Source = bytes.NewReader(text)
			return result, nil
		}
		if first == nil {
			first = err
		}
		if folder == "." || folder == "/" || l.files == 1 {
			return result, first
		}
	}
}

// errBuiltIn lets the compiler use its own copy of a file.
var errBuiltIn = errors.New("the file is built in")

// isLocal reports whether a name stays below the folder in which it is looked up.
func isLocal(name string) bool {
	return name != "" && name == path.Clean(name) && !path.IsAbs(name) && name != ".." &&
		!strings.HasPrefix(name, "../") &&
		!strings.ContainsAny(name, "\\:?#")
}

// pathOf returns the path of a URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	if u.Path == "" {
		return u.Opaque
	}
	return u.Path
}

// withPath returns a URI with another path.
func withPath(uri, to string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return to
	}
	u.Path, u.RawPath = to, ""
	return u.String()
}

// appendFile adds a file after those that it imports.
func appendFile(set *descriptorpb.FileDescriptorSet, file protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		appendFile(set, file.Imports().Get(i).FileDescriptor, seen)
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
}

// fromSet returns the JSON of a set of descriptors in protobuf's binary form.
func fromSet(text []byte) ([]byte, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(text, set); err != nil || len(set.GetFile()) == 0 {
		return nil, errors.New("it is not a set of descriptors (write it with protoc --descriptor_set_out " +
			"--include_imports)")
	}
	if len(set.GetFile()) > maxFiles {
		return nil, fmt.Errorf("the schema has more than %d files", maxFiles)
	}
	if _, err := protodesc.NewFiles(set); err != nil {
		return nil, fmt.Errorf("the set of descriptors is not complete: %w", err)
	}
	return toJSON(set)
}

// toJSON drops comments and unknown options, which calls do not need, and returns the JSON.
func toJSON(set *descriptorpb.FileDescriptorSet) ([]byte, error) {
	for _, file := range set.GetFile() {
		file.SourceCodeInfo = nil
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return nil, err
	}
	bare := &descriptorpb.FileDescriptorSet{}
	if err := (proto.UnmarshalOptions{Resolver: noTypes, DiscardUnknown: true}).Unmarshal(text, bare); err != nil {
		return nil, err
	}
	text, err = protojson.MarshalOptions{}.Marshal(bare)
	if err != nil {
		return nil, err
	}
	return compact(text)
}

// noTypes knows no extensions.
var noTypes = new(protoregistry.Types)

// compact returns JSON without blanks. The encoder of protobuf adds blanks at random.
func compact(text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readSchema returns the files of a stored schema.
func readSchema(text []byte) (*protoregistry.Files, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, set); err != nil {
		return nil, errors.New("the stored schema is not a set of descriptors in JSON")
	}
	return protodesc.NewFiles(set)
}
