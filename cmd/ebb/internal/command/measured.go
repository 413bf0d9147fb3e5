package command

import (
	"context"
	"net/http"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/metrics"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A measuredStore counts its use for /metrics, and reports on the process for ebb doctor. A store in memory does not:
// nothing else can read it.
type measuredStore struct {
	store     backend.Store
	file      *sqlstore.Store // nil for a store in memory, as are the others
	metrics   *metrics.Metrics
	described *description
}

func (s subcommands) measure(ctx context.Context, opened backend.Store, w *serving) (*measuredStore, error) {
	file, ok := opened.(*sqlstore.Store)
	if !ok {
		return &measuredStore{store: opened}, nil
	}
	m := metrics.New(file)
	described, err := s.describe(ctx, file, w.serveFlags)
	return &measuredStore{backend.Of(m.Store()), file, m, described}, err
}

func (m *measuredStore) observe(ev engine.Event) {
	if m.file != nil {
		m.metrics.Observe(ev)
	}
}

func (m *measuredStore) watch(c *conductor.Conductor) {
	if m.file != nil {
		m.metrics.Watch(c)
	}
}

func (m *measuredStore) addPaths(all map[string]http.Handler) {
	if m.file != nil {
		all["/metrics"] = server.Only(http.MethodGet, m.metrics.Handler())
	}
}

// tidy returns the space of purged runs to the file system.
func (m *measuredStore) tidy(ctx context.Context) (int64, error) {
	if m.file == nil {
		return 0, nil
	}
	return m.file.Vacuum(ctx)
}

func (m *measuredStore) update(ctx context.Context) {
	if m.file != nil {
		m.described.update(ctx)
	}
}
