package asl

import (
	"strconv"
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// dataPath is an InputPath, OutputPath or ResultPath.
type dataPath struct {
	path *jsonpath.Path // nil: everything
	none bool           // null: nothing, which is {}
}

// unlessRoot returns nil for the path to the input itself.
func unlessRoot(path *jsonpath.Path) *jsonpath.Path {
	if path != nil && path.Root() == jsonpath.RootInput && path.String() == "$" {
		return nil
	}
	return path
}

// wholeOf returns the integer that a number node stands for: 3, 3.0 and 3e0 are
// the same.
func wholeOf(n *node) (int64, bool) {
	if n.Kind != jsontext.Number {
		return 0, false
	}
	return wholeNumber(n.Str)
}

func wholeNumber(literal string) (int64, bool) {
	if v, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		return 0, false
	}
	return int64(f), true
}

// parseTimestamp reads what the language takes for a timestamp: RFC 3339 with a
// capital T, seconds, and Z or an offset.
func parseTimestamp(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") || len(text) > 19 && text[19] == ',' {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}
