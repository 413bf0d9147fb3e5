// Package spelling guesses which name a misspelled one meant.
package spelling

import (
	"slices"
	"strings"
)

// Beyond these bounds there is no guess: it would take too long, or be useless.
const (
	MaxCandidates = 500
	MaxName       = 80 // bytes
)

// Nearest returns the candidate that name most likely meant, or "" if none is close and none starts with it. One that
// differs only in its case is the nearest.
func Nearest(name string, candidates []string) string {
	if len(candidates) > MaxCandidates || len(name) > MaxName {
		return ""
	}
	for _, candidate := range candidates { // such as a field of a Go struct without a tag
		if candidate != name && strings.EqualFold(candidate, name) {
			return candidate
		}
	}
	best, bestDistance := "", min(len(name), 1+max(1, len(name)/3))
	for _, candidate := range candidates {
		if d := distance(name, candidate, bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" && len(name) >= leastPrefix {
		for _, candidate := range candidates {
			if strings.HasPrefix(candidate, name) && (best == "" || len(candidate) < len(best)) {
				best = candidate
			}
		}
	}
	return best
}

// IsSlip reports whether a name differs from another in at most two characters.
func IsSlip(name, other string) bool { return distance(name, other, 3) < 3 }

// leastPrefix is the length in bytes from which the start of a name identifies a candidate.
const leastPrefix = 4

// distance returns how many characters must be inserted, removed, replaced or swapped with their neighbor to turn a
// into b, at most limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	var before []int
	last, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		if slices.Min(row) >= limit {
			return limit
		}
		before, last, row = last, row, make([]int, len(y)+1)
	}
	return min(last[len(y)], limit)
}
