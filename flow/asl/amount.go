package asl

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// An amount is a number of a state, most often a whole one: fixed, or found in its
// data.
type amount struct {
	said   bool // it is there
	fixed  int64
	number float64 // of one that need not be whole
	query  *query
	path   *jsonpath.Path
	field  string // that the path stands in
}

// amount returns the number, which must be in a range unless it is fixed.
func (w *interpreter) amount(n *amount, least, most int64) (int64, *stateError) {
	switch {
	case n.query != nil:
		return n.query.whole(w.view(w.input), least, most)
	case n.path == nil:
		return n.fixed, nil
	}
	v, f := w.seen()
	if f != nil {
		return 0, f
	}
	value, f := v.resolve(n.path)
	if f != nil {
		return 0, f
	}
	found, ok := asWhole(value)
	if ok && least == 0 && found < 0 {
		return 0, runtimeError("Expected non-negative integer for %s, got '%d' instead.", strings.TrimSuffix(n.field, "Path"), found)
	}
	if !ok || found < least || found > most {
		return 0, runtimeError("The %s field refers to value \"%s\" which is not a valid integer: %s", n.field, plain(value), n.path.Text())
	}
	return found, nil
}

// plain returns a value as causes quote it: texts bare, all else as JSON.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return treeValue(value).encoded().String()
}

// asWhole returns the integer that a number, or the text of one, stands for.
func asWhole(value any) (int64, bool) {
	switch v := value.(type) {
	case json.Number:
		return wholeNumber(string(v))
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}
