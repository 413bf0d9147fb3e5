package expression

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// AsWhole returns the integer that a number, or the text of one, stands for.
func AsWhole(value any) (int64, bool) {
	switch v := value.(type) {
	case json.Number:
		return WholeNumber(string(v))
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// DataPath is an InputPath, OutputPath or ResultPath.
type DataPath struct {
	Path *jsonpath.Path // nil: everything
	None bool           // null: nothing, which is {}
}

// UnlessRoot returns nil for the path to the input itself.
func UnlessRoot(path *jsonpath.Path) *jsonpath.Path {
	if path != nil && path.Root() == jsonpath.RootInput && path.String() == "$" {
		return nil
	}
	return path
}

// WholeNumber returns the integer that a number stands for: 3, 3.0 and 3e0 are
// the same.
func WholeNumber(literal string) (int64, bool) {
	if v, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		return 0, false
	}
	return int64(f), true
}

// ParseTimestamp reads what the language takes for a timestamp: RFC 3339 with a
// capital T, seconds, and Z or an offset.
func ParseTimestamp(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") || len(text) > 19 && text[19] == ',' {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}
