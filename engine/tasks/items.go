package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
)

// items is the task that reads the items of a distributed Map, a page at a time. It keeps nothing between pages: the
// question contains the place in the file.
type items struct {
	registry *Registry
	stopped  func() error // returns an error if reading must end
}

// A source returns one item after the other, then io.EOF.
type source interface {
	next() (asl.Item, error)
	io.Closer
}

// Execute reads a page.
func (t items) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	var q asl.ItemQuery
	if err := in.Input().Decode(&q); err != nil {
		return nil, err
	}
	t.stopped = ctx.Err
	src, err := t.open(&q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }() // it was only read
	page := asl.ItemPage{Items: []asl.Item{}}
	for size := 0; (q.Limit == 0 || len(page.Items) < q.Limit) && (q.Bytes == 0 || size < q.Bytes); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		item, err := src.next()
		if errors.Is(err, io.EOF) {
			page.End = true
			break
		}
		if err != nil {
			return nil, err
		}
		if size += len(item.Value) + len(item.Next) + len(item.Source); q.Bytes > 0 && size > q.Bytes && len(page.Items) > 0 {
			break // it starts the next page
		}
		page.Items = append(page.Items, item)
	}
	return atom.Encode(page)
}

// Revert does nothing: reading had no effect.
func (items) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

// Reverts reports that there is nothing to undo.
func (items) Reverts() bool { return false }

// place is where an ItemReader reads.
//
//nolint:tagliatelle // AWS's names
type place struct {
	Bucket string `json:"Bucket"`
	Key    string `json:"Key"`
	Prefix string `json:"Prefix"`
}

// uri is the URI in the context object.
func (p *place) uri() string {
	if p.Key == "" {
		return "S3://" + p.Bucket
	}
	return "S3://" + p.Bucket + "/" + p.Key
}

func (t items) open(q *asl.ItemQuery) (source, error) {
	var p place
	if err := json.Unmarshal(q.Parameters, &p); err != nil {
		return nil, fmt.Errorf("the ItemReader must be given a Bucket with a Key or a Prefix: %w", err)
	}
	config := &q.ReaderConfig
	_, action, _ := strings.Cut(q.Resource, ":::")
	switch {
	case action == "s3:listObjectsV2" && config.Transformation == "LOAD_AND_FLATTEN":
		return t.openAll(&listed{items: t, place: p, config: config}, q.From)
	case action == "s3:listObjectsV2":
		return t.openList(&p, q.From)
	case action != "s3:getObject":
		return nil, fmt.Errorf(
			"an ItemReader cannot read from %s here (use arn:aws:states:::s3:getObject or arn:aws:states:::s3:listObjectsV2)",
			q.Resource)
	case config.InputType == "MANIFEST" || config.ManifestType != "":
		return t.openManifest(&p, config, q.From)
	}
	return t.openObject(&p, config, q.From)
}

// openObject opens an object by its type.
func (t items) openObject(p *place, config *asl.ReaderConfig, from string) (source, error) {
	switch config.InputType {
	case "CSV":
		return t.openCSV(p, config, from)
	case "JSONL":
		return t.openLines(p, from)
	case "JSON", "":
		return t.openJSON(p, config.ItemsPointer, from)
	}
	return nil, fmt.Errorf("files of the InputType %s cannot be read here; %s can be made CSV or JSONL first",
		config.InputType, p.uri())
}
