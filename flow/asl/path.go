package asl

import (
	"errors"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
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

// replaces reports whether the result takes the place of the state's input, so
// that the input need not be remembered.
func (p resultPath) replaces() bool { return p.path == nil && !p.none }

// dataPath reads a field that is a path or null.
func (c *compiler) dataPath(o *node, field string) dataPath {
	n := o.get(field)
	switch {
	case n == nil:
		return dataPath{}
	case n.kind == nullNode:
		return dataPath{none: true}
	}
	path := c.path(n)
	if path != nil && isRoot(path) {
		path = nil
	}
	return dataPath{path: path}
}

// isRoot reports whether a path is the input itself.
func isRoot(path *jsonpath.Path) bool {
	return path.Root() == jsonpath.RootInput && path.String() == "$"
}

// resultPath reads ResultPath.
func (c *compiler) resultPath(o *node) resultPath {
	n := o.get("ResultPath")
	switch {
	case n == nil:
		return resultPath{}
	case n.kind == nullNode:
		return resultPath{none: true}
	}
	path := c.path(n)
	if path == nil || isRoot(path) {
		return resultPath{}
	}
	if err := path.CheckResultPath(); err != nil {
		c.pathFault(n, err)
	}
	return resultPath{path: path}
}

// path reads a field that is a path.
func (c *compiler) path(n *node) *jsonpath.Path {
	if n.kind != stringNode {
		c.schemaf(n, "%s must be a path, found %s", n.key, n.kind)
		return nil
	}
	path, err := jsonpath.Parse(n.str)
	if err != nil {
		c.pathFault(n, err)
		return nil
	}
	return path
}

// referencePath reads a field that is a path to one value.
func (c *compiler) referencePath(n *node) *jsonpath.Path {
	path := c.path(n)
	if path == nil {
		return nil
	}
	if err := path.CheckReference(); err != nil {
		c.pathFault(n, err)
	}
	return path
}

func (c *compiler) pathFault(n *node, err error) {
	if wrong, ok := errors.AsType[*jsonpath.ParseError](err); ok {
		c.schemaf(n, "%s %s is not a legal path: %s (at its character %d)", n.key, quote(n.str), wrong.Problem, wrong.Offset+1)
		return
	}
	c.schemaf(n, "%s %s is not a legal path: %v", n.key, quote(n.str), err)
}

// seconds returns a field that must be a whole number of seconds if it is
// there.
func (c *compiler) seconds(o *node, field string, least int64) (int64, bool) {
	return c.integer(o, field, least, maxSeconds)
}

const maxSeconds = 99_999_999

func (c *compiler) integer(o *node, field string, least, most int64) (int64, bool) {
	n := o.get(field)
	if n == nil {
		return 0, false
	}
	v, ok := n.whole()
	if !ok || v < least || v > most {
		c.schemaf(n, "%s must be a whole number from %d to %d", field, least, most)
		return 0, false
	}
	return v, true
}

// whole returns the integer that a number node stands for: 3, 3.0 and 3e0 are
// the same.
func (n *node) whole() (int64, bool) {
	if n.kind != numberNode {
		return 0, false
	}
	return wholeNumber(n.str)
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
