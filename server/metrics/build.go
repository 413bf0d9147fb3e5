package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/internal/buildinfo"
)

// buildInfo returns a metric whose labels say which program this is.
func buildInfo() prometheus.Collector {
	version, revision, _ := buildinfo.Read()
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "ebb_build_info", Help: "1; the labels name the program's version, revision and version of Go.",
	}, []string{"version", "revision", "go"})
	g.WithLabelValues(version, revision, runtime.Version()).Set(1)
	return g
}
