// Package chart tests the Helm chart in deploy/helm, and deploy/compose.yaml.
package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// TestChart: what the chart makes has only fields that Kubernetes knows, its pods are restricted, and ebb understands its
// flags.
func TestChart(t *testing.T) {
	ebb := built(t)
	for name, c := range map[string]struct {
		values map[string]any
		kinds  string
	}{
		"SQLite":     {nil, "ConfigMap Service StatefulSet"},
		"PostgreSQL": {map[string]any{"dsnSecret": "db", "tlsSecret": "tls", "host": []any{"ebb.example.org"}}, "ConfigMap PodDisruptionBudget Job Service Deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			var kinds []string
			for _, object := range rendered(t, c.values) {
				decoded, kind, err := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer().Decode([]byte(object), nil, nil)
				if err != nil {
					t.Fatalf("%v in\n%s", err, object)
				}
				kinds = append(kinds, kind.Kind)
				switch o := decoded.(type) {
				case *appsv1.Deployment:
					restricted(t, &o.Spec.Template)
				case *appsv1.StatefulSet:
					restricted(t, &o.Spec.Template)
				case *batchv1.Job:
					restricted(t, &o.Spec.Template)
				case *corev1.ConfigMap:
					understood(t, ebb, o.Data["ebb.yaml"])
				case *policyv1.PodDisruptionBudget, *corev1.Service:
				default:
					t.Errorf("nothing checks %T", o)
				}
			}
			if got := strings.Join(kinds, " "); got != c.kinds {
				t.Errorf("it makes %s, want %s", got, c.kinds)
			}
		})
	}
}

// rendered returns the objects of the chart, in the order of its files.
func rendered(t *testing.T, values map[string]any) []string {
	t.Helper()
	chart, err := loader.Load("../../deploy/helm/ebb")
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "ebb", Namespace: "work"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, f := range chart.Templates {
		for object := range strings.SplitSeq(files["ebb/"+f.Name], "\n---\n") {
			if strings.TrimSpace(object) != "" {
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// restricted fails unless a namespace that enforces the restricted profile admits the pod.
func restricted(t *testing.T, pod *corev1.PodTemplateSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			t.Errorf("%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	mounted := map[string]bool{"data": true} // a claim of the stateful set
	for _, v := range pod.Spec.Volumes {
		mounted[v.Name] = true
	}
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		if !mounted[m.Name] {
			t.Errorf("there is no volume %s", m.Name)
		}
	}
}

// built builds ebb.
func built(t *testing.T) string {
	t.Helper()
	ebb := filepath.Join(t.TempDir(), "ebb")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", ebb, "./cmd/ebb")
	build.Dir, build.Env = "../..", append(os.Environ(), "GOWORK=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return ebb
}

// writeKeys writes a file with a key.
func writeKeys(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("me "+strings.Repeat("0123456789abcdef", 4)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// understood fails unless ebb serve takes the file of flags.
func understood(t *testing.T, ebb, flags string) {
	t.Helper()
	dir := t.TempDir()
	writeKeys(t, filepath.Join(dir, "keys"))
	text := strings.NewReplacer("/secrets/keys", dir, "/secrets/tls", dir, "/data", dir).Replace(flags)
	if err := os.WriteFile(filepath.Join(dir, "ebb.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--check", "--config", filepath.Join(dir, "ebb.yaml")}
	if strings.Contains(flags, "tls-cert") {
		key := exec.CommandContext(t.Context(), "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
			"-subj", "/CN=ebb", "-keyout", filepath.Join(dir, "tls.key"), "-out", filepath.Join(dir, "tls.crt"))
		if out, err := key.CombinedOutput(); err != nil {
			t.Skipf("needs openssl: %v %s", err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), ebb, args...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s of\n%s", err, out, flags)
	}
}
