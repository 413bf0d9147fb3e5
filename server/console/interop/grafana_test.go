package interop_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/states"
)

var (
	usedMetric  = regexp.MustCompile(`\b(ebb_[a-z_]+)(\{[^}]*\})?`)
	usedLabel   = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	groupedBy   = regexp.MustCompile(`by \(([^)]*)\)`)
	givenLabel  = regexp.MustCompile(`(\w+)="`)
	inExpr      = regexp.MustCompile(`(?m)"expr": ("(?:[^"\\]|\\.)*")|^\s+expr: (?:>-\n)?((?:.*\n)(?:\s+[/].*\n)*)`)
	inDashboard = regexp.MustCompile(`\$\{console\}([^"]*)`)
	inAlert     = regexp.MustCompile(`console: http://127\.0\.0\.1:8083/console/(.*)`)
	variable    = regexp.MustCompile(`\$\{[^}]*\}|\{\{[^}]*\}\}`)
)

// ofPrometheus are labels that Prometheus adds, and those of histograms.
var ofPrometheus = map[string]bool{"job": true, "instance": true, "le": true}

// TestGrafana: /metrics of a server has each metric and label that the dashboard and the alerts use, and their links
// lead to pages of the console.
func TestGrafana(t *testing.T) {
	t.Parallel()
	s := shared(t)
	metrics, err := fetch(t.Context(), s.address+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]map[string]bool{}
	for line := range strings.Lines(metrics) {
		if m := usedMetric.FindStringSubmatch(line); m != nil && !strings.HasPrefix(line, "#") {
			if labels[m[1]] == nil {
				labels[m[1]] = map[string]bool{}
			}
			for _, label := range givenLabel.FindAllStringSubmatch(m[2], -1) {
				labels[m[1]][label[1]] = true
			}
		}
	}
	folder := filepath.Join("..", "..", "..", "deploy", "grafana")
	for file, links := range map[string]*regexp.Regexp{"ebb.json": inDashboard, "alerts.yaml": inAlert} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		exprs := inExpr.FindAllStringSubmatch(string(text), -1)
		if len(exprs) < 10 {
			t.Errorf("%s has %d expressions", file, len(exprs))
		}
		for _, e := range exprs {
			checkExpr(t, file, e[1]+e[2], labels)
		}
		found := links.FindAllStringSubmatch(string(text), -1)
		if len(found) < 10 {
			t.Errorf("%s has %d links", file, len(found))
		}
		for _, link := range found {
			checkLink(t.Context(), t, s, link[1])
		}
	}
	var dashboard struct{ Panels []struct{ Title string } }
	text, err := os.ReadFile(filepath.Join(folder, "ebb.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &dashboard); err != nil || len(dashboard.Panels) < 10 {
		t.Errorf("ebb.json has %d panels: %v", len(dashboard.Panels), err)
	}
}

// checkExpr: each metric and each label of an expression exists.
func checkExpr(t *testing.T, file, expr string, labels map[string]map[string]bool) {
	t.Helper()
	expr = strings.ReplaceAll(expr, `\"`, `"`)
	metrics := usedMetric.FindAllStringSubmatch(expr, -1)
	if len(metrics) == 0 {
		t.Errorf("%s: no metric in %s", file, expr)
	}
	grouped := map[string]bool{}
	for _, m := range metrics {
		has, is := labels[m[1]]
		if !is {
			t.Errorf("%s: /metrics has no %s", file, m[1])
			continue
		}
		for _, label := range usedLabel.FindAllStringSubmatch(m[2], -1) {
			if !has[label[1]] && !ofPrometheus[label[1]] {
				t.Errorf("%s: %s has no label %s", file, m[1], label[1])
			}
		}
		maps.Copy(grouped, has)
	}
	for _, by := range groupedBy.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(by[1], ", ") {
			if !grouped[label] && !ofPrometheus[label] {
				t.Errorf("%s: no metric of %s has the label %s", file, expr, label)
			}
		}
	}
}

// checkLink: a link of Grafana leads to a page that understands it.
func checkLink(ctx context.Context, t *testing.T, s *site, link string) {
	t.Helper()
	of := strings.NewReplacer("+", "%20", " ", "%20")
	link = variable.ReplaceAllStringFunc(link, func(v string) string {
		if strings.Contains(v, "state") {
			return states.FlowReverted.String()
		}
		return "trip"
	})
	page, err := fetch(ctx, s.page("")+of.Replace(link))
	if err != nil || strings.Contains(page, `role="alert"`) || strings.Contains(page, "<h1>Problem") {
		t.Errorf("the link %q: %v: %.300s", link, err, page)
	}
	if strings.Contains(link, "state:") && !strings.Contains(page, "run?id="+tripRun) {
		t.Errorf("the link %q does not lead to the trip: %s", link, page)
	}
}
