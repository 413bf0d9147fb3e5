package casetest

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/visible"
)

// WriteLCOV writes the coverage of all definitions in the form of LCOV. A state is a function. A rule, retrier or
// catcher is a branch, in the line where it stands.
func (r *Report) WriteLCOV(w io.Writer) error {
	for _, c := range r.Coverage {
		if _, err := io.WriteString(w, c.lcov()); err != nil {
			return err
		}
	}
	return nil
}

func (c *Coverage) lcov() string {
	var functions, hits, branches strings.Builder
	lines := map[int]int64{}
	states, entered, ways, taken := 0, 0, 0, 0
	for i, part := range c.Parts {
		at, known := c.Def.Place(part.At)
		if !known {
			continue // it is in another file
		}
		n := c.Hits(part)
		lines[at.Line] = max(lines[at.Line], n)
		if part.Kind == grow.StatePart {
			name := strings.ReplaceAll(visible.Line(part.State), ",", "_") // a comma ends a field
			fmt.Fprintf(&functions, "FN:%d,%s\n", at.Line, name)
			fmt.Fprintf(&hits, "FNDA:%d,%s\n", n, name)
			states, entered = states+1, entered+isHit(n)
			continue
		}
		fmt.Fprintf(&branches, "BRDA:%d,%d,0,%d\n", at.Line, i, n)
		ways, taken = ways+1, taken+isHit(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "TN:\nSF:%s\n%s%sFNF:%d\nFNH:%d\n", visible.Line(c.Def.Source.File), functions.String(), hits.String(),
		states, entered)
	fmt.Fprintf(&b, "%sBRF:%d\nBRH:%d\n", branches.String(), ways, taken)
	covered := 0
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&b, "DA:%d,%d\n", line, lines[line])
		covered += isHit(lines[line])
	}
	fmt.Fprintf(&b, "LF:%d\nLH:%d\nend_of_record\n", len(lines), covered)
	return b.String()
}

func isHit(n int64) int {
	if n > 0 {
		return 1
	}
	return 0
}
