package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
)

// Languages implements [api.Languages].
type Languages struct {
	Catalog *definition.Catalog
	How     definition.Reading // how drafts are read; it has no loader
	// Named reports whether the operator names a resource. Nil means none.
	Named func(resource string) bool

	places chan struct{} // of trials
}

// mostTrials is how many trials run at the same time.
const mostTrials = 2

// New returns the languages for a catalog. The operator's settings say how a definition is read, and what it may name.
func New(catalog *definition.Catalog, how definition.Reading, named func(string) bool) *Languages {
	how.Loader = nil // a draft opens no file
	return &Languages{catalog, how, named, make(chan struct{}, mostTrials)}
}

// reading returns how a draft is read.
func (l *Languages) reading(d *api.Draft) definition.Reading {
	how := l.How
	how.Strict, how.Express = d.Strict, d.Express
	return how
}

// Check implements [api.Languages].
func (l *Languages) Check(d *api.Draft) *api.CheckResult {
	source := definition.FromText([]byte(d.Text))
	out := &api.CheckResult{Problems: source.Validate(l.reading(d))}
	m, err := source.Compile(l.reading(d))
	if err != nil || !out.Problems.Legal() {
		return out
	}
	out.Runnable, out.Stored, out.Picture = true, stored(d.Name, m), m.Picture(d.Name)
	for _, use := range m.Uses() {
		if !l.mayName(use.Task) {
			out.Refused = append(out.Refused, refusal(use, source))
		}
		for _, caller := range use.Callers {
			if name, _ := nodepath.Names(caller); !slices.Contains(out.Calls, name) {
				out.Calls = append(out.Calls, name)
			}
		}
	}
	return out
}

// Unheard implements [api.Languages].
func (l *Languages) Unheard(ctx context.Context, run *storage.Run, signal string) string {
	return l.Catalog.Unheard(ctx, run, signal)
}

// mayName reports whether a definition from the network may name a resource: one that AWS has, or one that the operator
// names. Others are programs, URLs and queues of workers.
func (l *Languages) mayName(resource string) bool {
	return strings.HasPrefix(resource, "arn:") || l.Named != nil && l.Named(resource)
}

func refusal(use definition.TaskUse, source *definition.Source) flow.Diagnostic {
	at := source.Place(use.At)
	return flow.Diagnostic{
		Rule: "named", Severity: flow.SeverityError, Line: at.Line, Column: at.Column,
		Message: fmt.Sprintf("%s: the operator of this server does not name %q", use.Where, use.Task),
		Fix:     "name a resource that ebb serve --task maps, or run the file with ebb run or ebb post",
	}
}

func stored(name string, m definition.Machine) storage.Definition {
	language, text := m.Stored()
	return storage.Definition{
		Hash: backend.DefinitionHash(name, language, text), Name: name, Language: language, Text: text,
	}
}

// Picture implements [api.Languages].
func (l *Languages) Picture(d *storage.Definition) (draw.View, error) {
	m, err := l.Catalog.Parsed(d)
	if err != nil {
		return draw.View{}, err
	}
	return m.Picture(d.Name), nil
}

// PictureOf implements [api.Languages].
func (l *Languages) PictureOf(ctx context.Context, run *storage.Run) (draw.View, error) {
	if m, is := swf.MachineOf(l.Catalog.Store, run); is {
		return m.Drawn(ctx)
	}
	m, err := l.Catalog.MachineOf(ctx, run)
	if err != nil {
		return draw.View{}, err
	}
	return m.Became(m.Picture(run.Flow), storage.EachEntry(ctx, l.Catalog.Store, run.ID, 0))
}
