package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
)

// TestWorkloads shows that every workload still measures something, with little of everything.
func TestWorkloads(t *testing.T) {
	dir := t.TempDir()
	command, err := build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"sqlite", "postgres"} {
		t.Run(store, func(t *testing.T) {
			b := &bench{
				dir: dir, command: command, time: 200 * time.Millisecond, clients: 4, pollers: 8, viewers: 3, machines: 3, ended: 150, open: 12,
				due: 4, sfnHistory: 25_000, swfHistory: 300,
			}
			if store == "postgres" {
				b.dsn = postgrestest.Server(t)
			}
			for _, w := range workloads {
				t.Run(w.name, func(t *testing.T) {
					rows, err := w.run(t.Context(), b)
					if err != nil {
						t.Fatal(err)
					}
					if len(rows) == 0 {
						t.Error("it has no rows")
					}
					for i := range rows {
						text := rows[i].String()
						t.Log(text)
						if strings.Count(text, "|") != strings.Count(heading(rows[i].bare), "|")/2 || rows[i].m == nil && len(rows[i].more) == 0 ||
							rows[i].m != nil && len(rows[i].m.took) == 0 && rows[i].m.count == 0 {
							t.Errorf("a row without figures: %s", text)
						}
					}
				})
			}
		})
	}
}
