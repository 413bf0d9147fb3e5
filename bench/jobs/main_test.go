package main

import (
	"testing"

	"github.com/ebbflow/ebb/internal/postgrestest"
)

// TestMeasures shows that the measures still run, with few jobs. The measure "start" takes a quarter of a minute and is
// left out.
func TestMeasures(t *testing.T) {
	*rounds, *number, *workers, *many = 1, 20, "2", "1"
	for _, c := range []struct {
		measure string
		server  bool
	}{{"conductors", false}, {"conductors", true}, {"claim", true}, {"bare", true}} {
		t.Run(c.measure, func(t *testing.T) {
			*dsn = "sqlite:"
			if c.server {
				*dsn = postgrestest.Server(t)
			}
			if err := measures[c.measure](t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
