package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/visible"
)

// severityLooks are how severities are called and shown.
var severityLooks = map[asl.Severity]look{
	asl.Error:       {"error", red},
	asl.Unsupported: {"cannot be run", blue},
	asl.Warning:     {"warning", yellow},
}

// shown is how much of a line is shown around a problem, in characters.
const shown = 100

// Diagnose returns a problem as compilers show it: its place and text, and under
// it the line of the file with a mark.
//
//	trip.asl.json:12:17: error: state "Pay": Next "Shipp" is no state (did you mean "Ship"?) [MISSING_TRANSITION_TARGET]
//	   12 |         "Next": "Shipp",
//	      |                 ^~~~~~~
func (p Page) Diagnose(problem asl.Problem, lines []string) string {
	var b strings.Builder
	l := severityLooks[problem.Severity]
	at := fmt.Sprintf("%s:%d:%d: ", problem.File, problem.Line, problem.Column)
	fix := ""
	if problem.Fix != "" {
		fix = " (" + problem.Fix + ")"
	}
	fmt.Fprintf(&b, "%s%s %s%s %s\n", p.color(visible.Line(at), bold), p.color(l.symbol+":", l.colour), visible.Line(problem.Message), visible.Line(fix),
		p.color("["+codeOf(&problem)+"]", dim))
	if problem.Line < 1 || problem.Line > len(lines) {
		return b.String()
	}
	line, column := excerpt([]rune(strings.TrimRight(lines[problem.Line-1], "\r")), problem.Column-1)
	number := fmt.Sprintf("%5d", problem.Line)
	fmt.Fprintf(&b, "%s | %s\n", number, string(line))
	mark := "^" + strings.Repeat("~", max(tokenLength(line[column:])-1, 0))
	fmt.Fprintf(&b, "%s | %s%s\n", strings.Repeat(" ", len(number)), blanks(line[:column]), p.color(mark, l.colour))
	return b.String()
}

// codeOf returns what a problem is known by: AWS's code, or the rule of a language
// that has no codes.
func codeOf(problem *asl.Problem) string {
	if problem.Code != "" {
		return string(problem.Code)
	}
	return problem.Rule
}

// excerpt returns the part of a line around a column that is shown, without
// control characters, and the column in it.
func excerpt(line []rune, column int) ([]rune, int) {
	column = min(max(column, 0), len(line))
	out := make([]rune, 0, len(line))
	for _, r := range line {
		if unicode.IsControl(r) && r != '\t' || !unicode.IsPrint(r) && r != '\t' {
			r = utf8.RuneError
		}
		out = append(out, r)
	}
	if len(out) > shown {
		from := max(min(column-shown/3, len(out)-shown), 0)
		cutOff := out[from:]
		column -= from
		if len(cutOff) > shown {
			cutOff = append(cutOff[:shown:shown], '…')
		}
		if from > 0 {
			cutOff, column = append([]rune{'…'}, cutOff...), column+1
		}
		out = cutOff
	}
	return out, column
}

// blanks returns what stands under a text so that what follows stands under what
// follows it.
func blanks(text []rune) string {
	out := make([]rune, len(text))
	for i, r := range text {
		out[i] = ' '
		if r == '\t' {
			out[i] = '\t'
		}
	}
	return string(out)
}

// tokenLength returns the length of the token that a text begins with: a text in
// quotes, a bracket, or a word.
func tokenLength(text []rune) int {
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '"' || text[0] == '\'':
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case text[0]:
				return i + 1
			}
		}
		return len(text)
	case strings.ContainsRune("{}[],", text[0]):
		return 1
	}
	n := 0
	for n < len(text) && !strings.ContainsRune(" \t,:{}[]\"", text[n]) {
		n++
	}
	return max(n, 1)
}

// Summary returns how many problems of each kind there are, "" for none.
func Summary(problems asl.Problems) string {
	count := map[asl.Severity]int{}
	for _, p := range problems {
		count[p.Severity]++
	}
	var parts []string
	for _, kind := range []struct {
		severity  asl.Severity
		one, many string
	}{
		{asl.Error, "error", "errors"}, {asl.Unsupported, "that cannot be run yet", "that cannot be run yet"}, {asl.Warning, "warning", "warnings"},
	} {
		switch n := count[kind.severity]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+kind.one)
		default:
			parts = append(parts, strconv.Itoa(n)+" "+kind.many)
		}
	}
	return strings.Join(parts, ", ")
}
