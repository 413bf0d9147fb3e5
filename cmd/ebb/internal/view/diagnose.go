package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
)

// severityLooks are the names and colors of severities.
var severityLooks = map[flow.Severity]look{
	flow.SeverityError:       {"error", red},
	flow.SeverityUnsupported: {"cannot be run", blue},
	flow.SeverityWarning:     {"warning", yellow},
}

// shown is the number of characters of a line that are shown around a problem.
const shown = 100

// Diagnose formats a problem as compilers do: its position and text, and below it the line of the file with a mark.
//
//	trip.asl.json:12:17: error: state "Pay": Next "Shipp" is no state (did you mean "Ship"?) [MISSING_TRANSITION_TARGET]
//	   12 |         "Next": "Shipp",
//	      |                 ^~~~~~~
func (p Page) Diagnose(problem flow.Diagnostic, lines []string) string {
	var b strings.Builder
	l := severityLooks[problem.Severity]
	at := fmt.Sprintf("%s:%d:%d: ", problem.File, problem.Line, problem.Column)
	fix := ""
	if problem.Fix != "" {
		fix = " (" + problem.Fix + ")"
	}
	fmt.Fprintf(&b, "%s%s %s%s %s\n", p.color(visible.Line(at), bold), p.color(l.symbol+":", l.color),
		visible.Line(problem.Message), visible.Line(fix),
		p.color("["+codeOf(&problem)+"]", dim))
	if problem.Line < 1 || problem.Line > len(lines) {
		return b.String()
	}
	line, column := excerpt([]rune(strings.TrimRight(lines[problem.Line-1], "\r")), problem.Column-1)
	number := fmt.Sprintf("%5d", problem.Line)
	fmt.Fprintf(&b, "%s | %s\n", number, string(line))
	mark := "^" + strings.Repeat("~", max(tokenLength(line[column:])-1, 0))
	fmt.Fprintf(&b, "%s | %s%s\n", strings.Repeat(" ", len(number)), blanks(line[:column]), p.color(mark, l.color))
	return b.String()
}

// codeOf returns AWS's code of a problem or, for a language without codes, the name of the rule.
func codeOf(problem *flow.Diagnostic) string {
	if problem.Code != "" {
		return string(problem.Code)
	}
	return problem.Rule
}

// excerpt returns the part of a line around a column without control characters, and the column in it.
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

// blanks returns blanks with the width of a text, so that marks align below what follows it.
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

// tokenLength returns the length of the token at the start of a text: a quoted text, a bracket, or a word.
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

// Summary counts the problems of each kind; "" if there are none.
func Summary(problems flow.Diagnostics) string {
	count := map[flow.Severity]int{}
	for _, p := range problems {
		count[p.Severity]++
	}
	var parts []string
	for _, kind := range []struct {
		severity  flow.Severity
		one, many string
	}{
		{flow.SeverityError, "error", "errors"},
		{flow.SeverityUnsupported, "that cannot be run yet", "that cannot be run yet"},
		{flow.SeverityWarning, "warning", "warnings"},
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
