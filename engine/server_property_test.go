package engine_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestServerCrashProperty is TestCrashProperty on PostgreSQL, in real time. Processes of random flows die at random
// commits, and others resume the runs, which end as without deaths.
func TestServerCrashProperty(t *testing.T) {
	where := onServer{postgrestest.DSN(t)}
	if _, err := sqlstore.Migrate(t.Context(), where.dsn); err != nil {
		t.Fatal(err)
	}
	const times = 10
	check(t, times, func(rt *rapid.T) {
		f := anyFlow(rt)
		c := conditions{policy: rapid.SampledFrom([]engine.Checkpoints{engine.Step, engine.Each}).Draw(rt, "policy"), parallel: 1}
		alone := inBubbleOf(t, inMemory(), f, c)
		alone.report(rt, f, c)
		for range rapid.IntRange(1, 3).Draw(rt, "deaths") {
			c.deaths = append(c.deaths, death{
				commit: rapid.IntRange(1, alone.commits).Draw(rt, "commit"),
				after:  rapid.Bool().Draw(rt, "after it is made"),
			})
		}
		got := runIn(t, where, f, c, newEffects(0))
		got.report(rt, f, c)
		where.clear(t)
		if alone.stuck || got.stuck {
			return
		}
		if diff := cmp.Diff(alone.upshot, got.upshot); diff != "" {
			rt.Fatalf("%s\n%+v\nends otherwise than alone (-alone +crashed on PostgreSQL):\n%s", f, c, diff)
		}
	})
}

// onServer is a place on a server.
type onServer struct{ dsn string }

func (p onServer) open(ctx context.Context) (backend.Store, error) { return sqlstore.Open(ctx, p.dsn) }
func (p onServer) died(s backend.Store) error                      { return s.Close() } // which is how the others learn of it

// clear purges the run, so that another one can have its id.
func (p onServer) clear(t *testing.T) {
	t.Helper()
	s, err := p.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(t.Context(), "r"); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
