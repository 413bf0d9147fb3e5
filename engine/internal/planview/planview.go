// Package planview keeps the diagrams of compiled flows in the store, and what input they take. A process without the
// code of a flow can then draw its runs, and start others.
package planview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
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
	Input  *inputSchema        `json:"input,omitempty"`
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

// Write stores the diagram of a plan, unless the Writer has done so, or another process. A plan with more than 2,000
// atoms has none. If the store fails, the diagram is missing, and the next call tries again. While one call waits for
// the store, others return at once.
func (w *Writer) Write(ctx context.Context, store storage.NamedRecords, p *flow.Plan) {
	if len(p.Atoms) > maxAtoms || !w.begin(p.Hash) {
		return
	}
	_, err := store.NamedRecord(ctx, recordKind, p.Hash)
	if errors.Is(err, storage.ErrNotFound) {
		_, err = store.WriteRecords(ctx, storage.RecordWrite{
			Kind: recordKind, Key: p.Hash, Was: storage.AnyRevision, Body: atom.MustEncode(recordOf(p)),
		})
	}
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.written, p.Hash)
	}
}

// begin reports whether the caller is to write the diagram with that hash.
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
	v, r := draw.OfPlan(p), record{Input: schemaOf(p), Facts: FactsOf(p)}
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
