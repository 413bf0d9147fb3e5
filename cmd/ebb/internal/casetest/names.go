package casetest

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// maxCompared bounds the names of which differences are found in this way. Further ones are compared one by one.
const maxCompared = 1000

// judgeNames compares names in order. It reports each name that is missing, and each that is not expected.
func judgeNames(what string, want *document.Document, got []string) []Mismatch {
	var all []Mismatch
	report := func(at document.Place, format string, args ...any) {
		all = append(all, mismatchf(at, what+": "+format, args...))
	}
	i, k := 0, 0 // the next names of want and got
	for _, pair := range append(inBoth(want, got), [2]int{len(want.Items), len(got)}) {
		for ; i < pair[0] && k < pair[1]; i, k = i+1, k+1 {
			report(want.Items[i].Place, "want %s, got %s", want.Items[i].Text, got[k])
		}
		for ; i < pair[0]; i++ {
			report(want.Items[i].Place, "want %s, which is missing", want.Items[i].Text)
		}
		if k < pair[1] {
			report(want.Place, "not expected: %s", strings.Join(got[k:pair[1]], ", "))
		}
		i, k = pair[0]+1, pair[1]+1
	}
	if len(all) > 0 {
		report(want.Place, "it is %s", strings.Join(got, ", "))
	}
	return all[:min(len(all), maxMismatches)]
}

// inBoth returns the positions in both lists of a longest sequence of names that both have in this order.
func inBoth(want *document.Document, got []string) [][2]int {
	n, m := min(len(want.Items), maxCompared), min(len(got), maxCompared)
	longest := make([][]int, n+1) // of the names from i and k on
	for i := range longest {
		longest[i] = make([]int, m+1)
	}
	for i, item := range slices.Backward(want.Items[:n]) {
		for k := m - 1; k >= 0; k-- {
			if item.Text == got[k] {
				longest[i][k] = longest[i+1][k+1] + 1
			} else {
				longest[i][k] = max(longest[i+1][k], longest[i][k+1])
			}
		}
	}
	var pairs [][2]int
	for i, k := 0, 0; i < n && k < m; {
		switch {
		case want.Items[i].Text == got[k]:
			pairs = append(pairs, [2]int{i, k})
			i, k = i+1, k+1
		case longest[i+1][k] >= longest[i][k+1]:
			i++
		default:
			k++
		}
	}
	return pairs
}
