package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCutPath(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"Pay":              {"", "Pay"},
		"Pay#2":            {"", "Pay#2"},
		"Fork[0]":          {"Fork", "[0]"},
		"Fork[0]/Pay":      {"Fork[0]", "Pay"},
		"A[1]/Fork#2[10]":  {"A[1]/Fork#2", "[10]"},
		"Pack~1Label~0":    {"", "Pack/Label~"},
		"A[1]/Pack~1Label": {"A[1]", "Pack/Label"},
		"[odd]":            {"", "[odd]"},
	}
	for path, want := range tests {
		above, name := CutPath(path)
		if diff := cmp.Diff(want, [2]string{above, name}); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
