package command

import (
	"strings"
	"testing"
)

// TestTable keeps the columns in line although a row between has no last cells.
func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := writeTable(&out, []string{"RUN", "NEVER", "STEP", "FAILURE"}, [][]string{
		{"a", "", "", "broke"}, {"long", "", "Pay", ""}, {"b", "", "", "no"},
	})
	want := "RUN   STEP  FAILURE\na           broke\nlong  Pay\nb           no\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\ngot:\n%swant:\n%s", err, out.String(), want)
	}
}
