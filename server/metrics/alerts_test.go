package metrics_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// calm are the series of a server that is well: in promtool's notation, a value for each quarter of a minute.
var calm = map[string]string{
	`ebb_store_up{instance="a"}`:                               "1x200",
	`ebb_store_up{instance="b"}`:                               "1x200",
	`ebb_processes{instance="a"}`:                              "2x200",
	`ebb_needs_person_runs{instance="a"}`:                      "0x200",
	`ebb_undriven_runs{instance="a"}`:                          "0x200",
	`ebb_unclaimed_jobs{instance="a"}`:                         "0x200",
	`ebb_parked_jobs{instance="a"}`:                            "0x200",
	`ebb_late_schedules{instance="a"}`:                         "0x200",
	`ebb_parked_messages{instance="a"}`:                        "0x200",
	`ebb_crash_loop_runs{instance="a",isolated="yes"}`:         "0x200",
	`ebb_process_deaths_total{instance="a"}`:                   "0x200",
	`ebb_limit_used_runs{instance="a",flow="trip",label=""}`:   "5x200",
	`ebb_limit_runs{instance="a",flow="trip",label=""}`:        "5x200",
	`ebb_limited_runs{instance="a"}`:                           "0x200",
	`ebb_runs_total{instance="a",flow="trip",state="SUCCESS"}`: "0+100x200",
	`ebb_runs_total{instance="a",flow="trip",state="FAILURE"}`: "0+1x200",
	`ebb_checkpoint_seconds_bucket{instance="a",le="1"}`:       "0+100x200",
	`ebb_checkpoint_seconds_bucket{instance="a",le="2.5"}`:     "0+100x200",
	`ebb_checkpoint_seconds_bucket{instance="a",le="+Inf"}`:    "0+100x200",
	`ebb_memory_exhausted{instance="a"}`:                       "0x200",
}

// TestAlerts evaluates the alerts with Prometheus's own tool: none fires for a server that is well, and of each trouble
// its own alert alone.
func TestAlerts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs promtool: install prometheus")
	}
	rules, err := filepath.Abs(filepath.Join("..", "..", "deploy", "grafana", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	troubles := map[string]map[string]string{
		"":                  nil,
		"EbbStoreDown":      {`ebb_store_up{instance="b"}`: "1x40 0x160"},
		"EbbFewerProcesses": {`ebb_processes{instance="a"}`: "2x40 1x160"},
		"EbbNeedsPerson":    {`ebb_needs_person_runs{instance="a"}`: "0x40 1x160"},
		"EbbNothingDrives":  {`ebb_undriven_runs{instance="a"}`: "0x40 3x160"},
		"EbbJobsUnclaimed":  {`ebb_unclaimed_jobs{instance="a"}`: "0x40 3x160"},
		"EbbJobsParked":     {`ebb_parked_jobs{instance="a"}`: "0x40 3x160"},
		"EbbSchedulesLate":  {`ebb_late_schedules{instance="a"}`: "0x40 1x160"},
		"EbbMessagesParked": {`ebb_parked_messages{instance="a"}`: "0x40 1x160"},
		"EbbCrashLoops":     {`ebb_crash_loop_runs{instance="a",isolated="yes"}`: "0x40 1x160"},
		"EbbProcessesDie":   {`ebb_process_deaths_total{instance="a"}`: "0x100 0+1x100"},
		"EbbLimitUsedUp":    {`ebb_limited_runs{instance="a"}`: "0x40 2x160"},
		"EbbManyRunsFail":   {`ebb_runs_total{instance="a",flow="trip",state="FAILURE"}`: "0+100x200"},
		"EbbCommitsSlow": {
			`ebb_checkpoint_seconds_bucket{instance="a",le="1"}`: "0x200",
		},
		"EbbMemoryExhausted": {`ebb_memory_exhausted{instance="a"}`: "0x40 1x160"},
		"EbbAbsent":          {`ebb_store_up{instance="a"}`: "", `ebb_store_up{instance="b"}`: ""},
	}
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
		if _, tried := troubles[m[1]]; !tried {
			t.Errorf("no trouble of the alert %s", m[1])
		}
	}
	var file strings.Builder
	fmt.Fprintf(&file, "rule_files: [%q]\nevaluation_interval: 15s\ntests:\n", rules)
	for alert, changed := range troubles {
		fmt.Fprintf(&file, "  - name: %q\n    interval: 15s\n    input_series:\n", alert)
		for series, values := range calm {
			if other, is := changed[series]; is {
				values = other
			}
			if values != "" {
				fmt.Fprintf(&file, "      - {series: '%s', values: '%s'}\n", series, values)
			}
		}
		samples := "[]"
		if alert != "" {
			samples = fmt.Sprintf(`[{labels: '{alertname="%s"}', value: 1}]`, alert)
		}
		fmt.Fprintf(&file, "    promql_expr_test:\n      - expr: 'group by (alertname) (ALERTS{alertstate=\"firing\"})'\n"+
			"        eval_time: 40m\n        exp_samples: %s\n", samples)
	}
	path := filepath.Join(t.TempDir(), "alerts.test.yaml")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
