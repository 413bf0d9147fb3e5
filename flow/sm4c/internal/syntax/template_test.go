package syntax

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/jq"
)

// TestTemplateSize resolves a template with many large values. Together they have one bound.
//
// Attack (Definitions and expressions): 1,000 arguments of one call of SM4C, each an expression of jq that gives 15 MB.
// Result: `SM4C.Expression` as soon as they have 16 MiB together.
func TestTemplateSize(t *testing.T) { //nolint:paralleltest // it measures memory
	template := func(program string, n int) *Template {
		compiled, err := jq.Compile(program)
		if err != nil {
			t.Fatal(err)
		}
		expression := &Expression{Program: compiled, Where: "arguments"}
		all := &Template{List: make([]Template, n)}
		for i := range all.List {
			all.List[i] = Template{Members: []TemplateMember{{Name: "a", Value: Template{Expression: expression}}}}
		}
		return all
	}
	for _, program := range []string{`"x" * 15000000`, `[range(200000)]`} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, f := template(program, 200).Resolve(nil, nil)
		runtime.ReadMemStats(&after)
		if f == nil || !strings.Contains(f.Message, "together") {
			t.Errorf("%s: %v", program, f)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 512 {
			t.Errorf("%s: %d MiB", program, made)
		}
	}
	if _, f := template(`"x" * 1000`, 1000).Resolve(nil, nil); f != nil {
		t.Errorf("1000 small values: %v", f)
	}
}
