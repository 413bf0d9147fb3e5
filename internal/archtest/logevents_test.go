package archtest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// loggers are the methods of loggers that log at a level.
var loggers = []string{"Trace", "Debug", "Info", "Warn", "Error", "Log"}

// dynamicLogs are the files whose logger calls have an event or a level that is known only when they run.
var dynamicLogs = []string{"engine/internal/driver/log.go"}

// A logCall is what the code says about an event.
type logCall struct{ levels, attributes map[string]bool }

var eventRow = regexp.MustCompile("^\\| `([a-z_.]+)` \\| ([a-z, ]+) \\| ([a-z_, ]+) \\|")

// TestLogEvents compares docs/reference/log-events.md with the code: each event that is logged has a row, each row an
// event, and the row has the levels and the attributes of the calls. No call logs a message of its own.
func TestLogEvents(t *testing.T) {
	t.Parallel()
	constants := eventConstants(t)
	rows := map[string]logCall{}
	for line := range strings.Lines(textOf(t, "docs/reference/log-events.md")) {
		if m := eventRow.FindStringSubmatch(line); m != nil {
			rows[m[1]] = logCall{setOf(strings.Split(m[2], ", ")), setOf(strings.Split(m[3], ", "))}
		}
	}
	calls, dynamic := map[string]logCall{}, map[string]bool{}
	walk(t, ".", func(name string) {
		if !isCode(name) || within(name, "internal/hcslog") || within(name, "bench") {
			return
		}
		isDynamic := slices.Contains(dynamicLogs, name)
		fset := token.NewFileSet()
		ast.Inspect(parse(t, fset, name, nil, parser.SkipObjectResolution), func(n ast.Node) bool {
			if at, is := n.(*ast.SelectorExpr); is && isDynamic {
				if event := constants[constantOf(at)]; event != "" {
					dynamic[event] = true
				}
			}
			if call, is := n.(*ast.CallExpr); is && !isDynamic {
				if err := addCall(calls, constants, call); err != nil {
					t.Errorf("%s: %v", fset.Position(call.Pos()), err)
				}
			}
			return true
		})
	})
	for _, event := range constants {
		row, listed := rows[event]
		call, called := calls[event]
		switch {
		case !listed:
			t.Errorf("docs/reference/log-events.md has no row for %s", event)
		case !called && !dynamic[event]:
			t.Errorf("nothing logs %s", event)
		case called && (!maps.Equal(row.levels, call.levels) || !maps.Equal(row.attributes, call.attributes)):
			t.Errorf("%s has the levels %v and the attributes %v; docs/reference/log-events.md says %v and %v", event,
				sorted(call.levels), sorted(call.attributes), sorted(row.levels), sorted(row.attributes))
		}
		delete(rows, event)
	}
	for event := range rows {
		t.Errorf("docs/reference/log-events.md lists %s, which is not in internal/logevent", event)
	}
}

// eventConstants returns the events by the names of their constants.
func eventConstants(t *testing.T) map[string]string {
	t.Helper()
	events := map[string]string{}
	file := parse(t, token.NewFileSet(), "internal/logevent/event.go", nil, parser.SkipObjectResolution)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Error(err)
			}
			events[spec.Names[0].Name] = text
		}
		return true
	})
	return events
}

// addCall adds what a call says about the event that it logs. A call that logs no event of the constants is an error.
func addCall(calls map[string]logCall, constants map[string]string, call *ast.CallExpr) error {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is || !slices.Contains(loggers, method.Sel.Name) || len(call.Args) == 0 || !isLogger(method.X) {
		return nil
	}
	event := constants[constantOf(call.Args[0])]
	if event == "" {
		return errors.New("a log call has no event of internal/logevent as its message")
	}
	found, known := calls[event]
	if !known {
		found = logCall{map[string]bool{}, map[string]bool{}}
		calls[event] = found
	}
	found.levels[strings.ToLower(method.Sel.Name)] = true
	pairs := call.Args[1:]
	if call.Ellipsis.IsValid() {
		made, is := pairs[0].(*ast.CallExpr)
		if !is || constantOf(made.Fun) != "Attributes" {
			return errors.New("the attributes of a log call are not written at the call")
		}
		pairs = made.Args
	}
	for i := 0; i < len(pairs); i += 2 {
		key, is := pairs[i].(*ast.BasicLit)
		if !is {
			return errors.New("the key of an attribute is not written at the call")
		}
		found.attributes[strings.Trim(key.Value, `"`)] = true
	}
	return nil
}

// isLogger reports whether an expression is called as loggers are.
func isLogger(x ast.Expr) bool {
	name := ""
	switch x := x.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	case *ast.CallExpr:
		return isLogger(x.Fun)
	}
	return slices.Contains([]string{"log", "Log", "logger", "Logger", "Slog"}, name)
}

// constantOf returns the name that an expression takes from package logevent, or "".
func constantOf(x ast.Expr) string {
	if at, is := x.(*ast.SelectorExpr); is {
		if pkg, is := at.X.(*ast.Ident); is && pkg.Name == path.Base("internal/logevent") {
			return at.Sel.Name
		}
	}
	return ""
}

func setOf(texts []string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		set[strings.TrimSpace(text)] = true
	}
	return set
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
