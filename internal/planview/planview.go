// Package planview keeps the diagrams of compiled flows in the store, and what input they take. A process without the
// code of a flow can then draw its runs, and start others.
package planview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/jsonschema"
	"github.com/ebbflow/ebb/storage"
)

const (
	// recordKind is the kind of the named records. Their keys are the hashes of the plans.
	recordKind = "ebb.plan"
	// maxAtoms is the number of atoms up to which a diagram is kept.
	//
	//limit:shown `ebb graph RUN`: atoms of a flow in Go | {} | what the run has done is drawn
	maxAtoms = 2000
)

// kinds are the texts of the kinds of nodes in the records.
var kinds = map[draw.Kind]string{
	draw.Task: "task", draw.Undoable: "undoable", draw.Retry: "retry", draw.Choice: "choice", draw.Wait: "wait",
	draw.Compute: "compute", draw.Junction: "junction", draw.Start: "start", draw.End: "end",
}

type record struct {
	Input  *jsonschema.Schema  `json:"input,omitempty"`
	Groups []group             `json:"groups,omitempty"`
	Nodes  []node              `json:"nodes,omitempty"`
	Edges  []edge              `json:"edges,omitempty"`
	Facts  map[string][]string `json:"facts,omitempty"` // see [FactsOf]
}

type group struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
	In    string `json:"in,omitempty"`
}

type node struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
	Kind  string `json:"kind"`
	In    string `json:"in,omitempty"`
	Pivot bool   `json:"pivot,omitempty"`
}

type edge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Label string `json:"label,omitempty"`
	Maybe bool   `json:"maybe,omitempty"`
}

// A Writer stores the diagram of each plan once. The zero Writer is ready to use.
type Writer struct {
	mu      sync.Mutex
	written map[string]bool // by the hashes of plans; also those that are being written
}

// Write stores the diagram of a plan and what its atoms take from outside, unless the Writer has done so. A plan with
// more than 2,000 atoms has no diagram. What an earlier program stored is replaced: types of Go are no part of a plan's
// hash. If the store fails, the records are missing, and the next call tries again. While one call waits for the store,
// others return at once.
func (w *Writer) Write(ctx context.Context, store storage.NamedRecords, p *flow.Plan) {
	if !w.begin(p.Hash) {
		return
	}
	if err := write(ctx, store, p); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.written, p.Hash)
	}
}

func write(ctx context.Context, store storage.NamedRecords, p *flow.Plan) error {
	if len(p.Atoms) <= maxAtoms {
		if err := put(ctx, store, recordKind, p.Hash, recordOf(p), false); err != nil {
			return err
		}
	}
	for hash, r := range awaitedBy(p) {
		if err := put(ctx, store, awaited.RecordKind, hash, r, len(r) == 0); err != nil {
			return err
		}
	}
	return nil
}

// put stores a record unless it is stored. A record that says nothing only replaces another one.
func put(ctx context.Context, store storage.NamedRecords, kind, key string, content any, nothing bool) error {
	body, err := atom.Encode(content)
	if err != nil {
		return nil //nolint:nilerr // it is too large: views show what the run has done, and the run checks what it receives
	}
	switch stored, err := store.NamedRecord(ctx, kind, key); {
	case err == nil && bytes.Equal(stored.Body, body), nothing && errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	}
	_, err = store.WriteRecords(ctx, storage.RecordWrite{Kind: kind, Key: key, Was: storage.AnyRevision, Body: body})
	return err
}

// begin reports whether the caller is to write the records of the plan with that hash.
func (w *Writer) begin(hash string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.written[hash] {
		return false
	}
	if w.written == nil {
		w.written = map[string]bool{}
	}
	w.written[hash] = true
	return true
}

func recordOf(p *flow.Plan) record {
	v, r := draw.OfPlan(p), record{Input: awaited.InputOf(p), Facts: FactsOf(p)}
	for _, g := range v.Groups {
		r.Groups = append(r.Groups, group(g))
	}
	for _, n := range v.Nodes {
		r.Nodes = append(r.Nodes, node{ID: n.ID, Label: n.Label, Kind: kinds[n.Kind], In: n.In, Pivot: n.Pivot})
	}
	for _, e := range v.Edges {
		r.Edges = append(r.Edges, edge{From: e.From, To: e.To, Label: e.Label, Maybe: e.Maybe})
	}
	return r
}

// Read returns the diagram of the plan with that hash, without a title. If there is none, it returns an error that
// wraps [storage.ErrNotFound].
func Read(ctx context.Context, store storage.NamedRecords, hash string) (draw.View, error) {
	var v draw.View
	stored, err := store.NamedRecord(ctx, recordKind, hash)
	if err != nil {
		return v, err
	}
	var r record
	if err := json.Unmarshal(stored.Body.JSON(), &r); err != nil {
		return v, fmt.Errorf("engine: the diagram of the plan %s: %w", hash, err)
	}
	ofText := make(map[string]draw.Kind, len(kinds))
	for kind, text := range kinds {
		ofText[text] = kind
	}
	for _, g := range r.Groups {
		v.Groups = append(v.Groups, draw.Group(g))
	}
	for _, n := range r.Nodes {
		v.Nodes = append(v.Nodes, draw.Node{ID: n.ID, Label: n.Label, Kind: ofText[n.Kind], In: n.In, Pivot: n.Pivot})
	}
	for _, e := range r.Edges {
		v.Edges = append(v.Edges, draw.Edge{From: e.From, To: e.To, Label: e.Label, Maybe: e.Maybe})
	}
	return v, nil
}
