package enginebench

import (
	"encoding/json"
	"math"
	"strconv"
)

// A Result has the figures of one workload. A step is a task that was executed or undone.
type Result struct {
	Workload      string `json:"workload"`
	Steps         int64  `json:"steps"` // number of measured steps
	StepsPerS     Figure `json:"steps_per_s"`
	CeilingPerS   Figure `json:"ceiling_per_s"` // rate of the database without Ebb
	Ratio         Figure `json:"ratio"`
	P50           Figure `json:"p50_us"` // median time between two steps of a run
	P99           Figure `json:"p99_us"`
	RowsPerStep   Figure `json:"rows_per_step"`    // rows written, without indexes
	BytesPerStep  Figure `json:"bytes_per_step"`   // growth of the database
	FsyncsPerStep Figure `json:"fsyncs_per_step"`  // fsyncs of SQLite, see sqlstore.Counts
	CPUPerStep    Figure `json:"cpu_us_per_step"`  // CPU time of the process, all threads
	PeakRSS       Figure `json:"peak_rss_mb"`      // peak memory of the process during the workload
	StepsPerTx    Figure `json:"steps_per_commit"` // steps that share a transaction

	CeilingCPU Figure `json:"ceiling_cpu_us_per_step"`   // CPU time of the ceiling
	Cold       Figure `json:"cold_steps_per_s,omitzero"` // seq: rate of the first 1,000 steps, while the log is new
	// Resume: from the start of the process to the end of the last run
	Resume     Figure `json:"resume_s,omitzero"`
	ResumeOver Figure `json:"resume_over_s,omitzero"` // resume: Resume minus the time of the steps at the rate of many
	RevertCost Figure `json:"revert_cost,omitzero"`   // undo: time to undo a run / time to execute it
}

// A Figure is a number that may be unknown.
type Figure float64

// unknown is a figure that was not measured.
var unknown = Figure(math.NaN())

// Known reports whether the figure was measured.
func (f Figure) Known() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// String returns the figure with at least three digits, or "-" if it is unknown.
func (f Figure) String() string {
	switch {
	case !f.Known():
		return "-"
	case math.Abs(float64(f)) >= 100:
		return strconv.FormatFloat(float64(f), 'f', 0, 64)
	case math.Abs(float64(f)) >= 10:
		return strconv.FormatFloat(float64(f), 'f', 1, 64)
	default:
		return strconv.FormatFloat(float64(f), 'f', 3, 64)
	}
}

// MarshalJSON returns the figure, or null if it is unknown.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(math.Round(float64(f)*1e4) / 1e4)
}
