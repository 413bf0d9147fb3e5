package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"
)

// constants computes the values of the constants of packages, from their text.
type constants struct {
	t        *testing.T
	packages map[string]map[string]constantText // by folder and name
}

// A constantText is the expression of a constant, and its file.
type constantText struct {
	expression ast.Expr
	file       *ast.File
}

func newConstants(t *testing.T) *constants {
	t.Helper()
	return &constants{t, map[string]map[string]constantText{}}
}

// of returns the value of a constant, and whether it is a time.
func (c *constants) of(folder, name string) (value int64, isTime bool, err error) {
	text, known := c.in(folder)[name]
	if !known {
		return 0, false, fmt.Errorf("%s has no constant %q", folder, name)
	}
	v, isTime, err := c.compute(folder, text.file, text.expression)
	if err != nil {
		return 0, false, err
	}
	value, exact := constant.Int64Val(constant.ToInt(v))
	if !exact {
		return 0, false, fmt.Errorf("%s is not a whole number", name)
	}
	return value, isTime, nil
}

// in returns the constants of a package.
func (c *constants) in(folder string) map[string]constantText {
	if all, known := c.packages[folder]; known {
		return all
	}
	all := map[string]constantText{}
	c.packages[folder] = all
	walk(c.t, folder, func(name string) {
		if !isCode(name) || path.Dir(name) != folder {
			return
		}
		file := parse(c.t, token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		for _, d := range file.Decls {
			declaration, is := d.(*ast.GenDecl)
			if !is || declaration.Tok != token.CONST {
				continue
			}
			for _, s := range declaration.Specs {
				spec := s.(*ast.ValueSpec)
				for i, value := range spec.Values {
					all[spec.Names[i].Name] = constantText{value, file}
				}
			}
		}
	})
	return all
}

// compute returns the value of an expression of a file, and whether it is a time.
func (c *constants) compute(folder string, file *ast.File, e ast.Expr) (v constant.Value, isTime bool, err error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), false, nil
	case *ast.ParenExpr:
		return c.compute(folder, file, e.X)
	case *ast.Ident:
		value, isTime, err := c.of(folder, e.Name)
		return constant.MakeInt64(value), isTime, err
	case *ast.SelectorExpr:
		return c.imported(file, e)
	case *ast.BinaryExpr:
		x, xIsTime, err := c.compute(folder, file, e.X)
		if err != nil {
			return nil, false, err
		}
		y, yIsTime, err := c.compute(folder, file, e.Y)
		if err != nil {
			return nil, false, err
		}
		isTime := xIsTime || yIsTime
		if e.Op == token.SHL {
			by, _ := constant.Uint64Val(y)
			return constant.Shift(x, token.SHL, uint(by)), isTime, nil
		}
		return constant.BinaryOp(x, e.Op, y), isTime, nil
	default:
		return nil, false, fmt.Errorf("cannot compute a %T", e)
	}
}

// units are the constants of package time.
var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// imported returns the value of a constant of another package, and whether it is a time.
func (c *constants) imported(file *ast.File, e *ast.SelectorExpr) (v constant.Value, isTime bool, err error) {
	from, is := e.X.(*ast.Ident)
	if !is {
		return nil, false, errors.New("not a constant of a package")
	}
	if unit, known := units[e.Sel.Name]; known && from.Name == "time" {
		return constant.MakeInt64(int64(unit)), true, nil
	}
	for _, spec := range file.Imports {
		folder, ours := inProject(importPath(c.t, spec))
		if ours && path.Base(folder) == from.Name {
			value, isTime, err := c.of(folder, e.Sel.Name)
			return constant.MakeInt64(value), isTime, err
		}
	}
	return nil, false, fmt.Errorf("%s is not a package of Ebb", from.Name)
}

// spelled returns a number as a page writes it: a time, a number of bytes, or groups of three digits.
func spelled(value int64, isTime bool, unit string) string {
	if isTime {
		return spelledTime(time.Duration(value))
	}
	if unit == "" {
		return grouped(value)
	}
	for _, prefix := range []string{"", "Ki", "Mi"} {
		const step = 1024
		if value%step != 0 {
			return grouped(value) + " " + prefix + unit
		}
		value /= step
	}
	return grouped(value) + " Gi" + unit
}

// spelledTime returns a time in the largest unit of which it is a multiple.
func spelledTime(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day == 0 && d > day:
		return fmt.Sprintf("%d days", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d > time.Minute && d%time.Minute != 0 && d%time.Second == 0:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d ms", d/time.Millisecond)
}

// grouped returns a number with commas between groups of three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return strings.TrimPrefix(text, ",")
}
