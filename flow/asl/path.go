package asl

import (
	"strconv"
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// dataPath is an InputPath or OutputPath.
type dataPath struct {
	path *jsonpath.Path // nil: everything
	none bool           // null: nothing, which is {}
}

// resultPath is a ResultPath.
type resultPath struct {
	path *jsonpath.Path // nil: the result takes the input's place
	none bool           // null: the result is dropped
}

// dataPathOf returns an InputPath or OutputPath.
func dataPathOf(o *node, name string) dataPath {
	n := o.Get(name)
	path := jsontext.Meaning[*jsonpath.Path](n)
	if path != nil && isRoot(path) {
		path = nil
	}
	return dataPath{path: path, none: n != nil && n.Kind == jsontext.Null}
}

// isRoot reports whether a path is the input itself.
func isRoot(path *jsonpath.Path) bool {
	return path.Root() == jsonpath.RootInput && path.String() == "$"
}

// resultPathOf returns the ResultPath of a state or catcher.
func resultPathOf(o *node) resultPath { return resultPath(dataPathOf(o, "ResultPath")) }

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
