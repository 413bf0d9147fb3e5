package enginebench

import (
	"encoding/json"
	"math"
	"strconv"
)

// A Result is what was measured of one workload. A step is a task executed or
// undone.
type Result struct {
	Workload      string `json:"workload"`
	Steps         int64  `json:"steps"` // that were measured
	StepsPerS     Figure `json:"steps_per_s"`
	CeilingPerS   Figure `json:"ceiling_per_s"` // what the database takes without Ebb
	Ratio         Figure `json:"ratio"`
	P50           Figure `json:"p50_us"` // between two steps of a run
	P99           Figure `json:"p99_us"`
	RowsPerStep   Figure `json:"rows_per_step"`    // written, not counting indices
	BytesPerStep  Figure `json:"bytes_per_step"`   // by which the database grew
	FsyncsPerStep Figure `json:"fsyncs_per_step"`  // those that SQLite does, see sqlstore.Counts
	CPUPerStep    Figure `json:"cpu_us_per_step"`  // of the process, all threads
	PeakRSS       Figure `json:"peak_rss_mb"`      // of the process, during the workload
	StepsPerTx    Figure `json:"steps_per_commit"` // that share a transaction

	CeilingCPU Figure `json:"ceiling_cpu_us_per_step"`   // what of it the ceiling takes
	Cold       Figure `json:"cold_steps_per_s,omitzero"` // seq: before the log was warm
	// Resume: from the start of the process to the end of the last run
	Resume     Figure `json:"resume_s,omitzero"`
	ResumeOver Figure `json:"resume_over_s,omitzero"` // resume: so much longer than the steps take at the rate of many
	RevertCost Figure `json:"revert_cost,omitzero"`   // undo: time to undo a run, in times to execute it
}

// A Figure is a number that may not be known.
type Figure float64

// unknown is the figure that was not measured.
var unknown = Figure(math.NaN())

// Known reports whether the figure was measured.
func (f Figure) Known() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// String returns the figure with three digits at least, "-" when it is not
// known.
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

// MarshalJSON writes the figure, or null.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(math.Round(float64(f)*1e4) / 1e4)
}
