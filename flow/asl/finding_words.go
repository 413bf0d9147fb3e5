package asl

import (
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow"
)

// arranged returns problems in AWS's order: that a level has no end follows the others, and stands for all states that
// cannot be reached there.
func arranged(problems flow.Diagnostics) []*flow.Diagnostic {
	endless := map[string]bool{}
	for i := range problems {
		if problems[i].Rule == "end" {
			endless[problems[i].Pointer] = true
		}
	}
	var all, ends []*flow.Diagnostic
	for i := range problems {
		switch p := &problems[i]; {
		case p.Rule == "end":
			ends = append(ends, p)
		case p.Rule != "unreachable" || !endless[path.Dir(p.Pointer)]:
			all = append(all, p)
		}
	}
	return append(all, ends...)
}

// unnamed returns a message about an expression without the name of its field, which the location has.
func unnamed(message string) string {
	if _, rest, ok := strings.Cut(message, ": "); ok {
		return rest
	}
	return message
}

// exclusive returns the finding for fields that exclude each other.
func exclusive(one Finding, at steps) Finding {
	list, ok := strings.CutPrefix(strings.TrimSuffix(one.Message, " may be there"), "only one of ")
	if ok {
		one.Message = "There should only be one of the following fields: [" + list + "]"
		one.Location = at.parent().String()
	}
	return one
}

var bounds = regexp.MustCompile(`must be a (whole )?number (?:from (\d+) to (\d+)|of at least (\d+))$`)

// outOfBounds returns AWS's words for a number that is too small or too large; "" for other problems.
func outOfBounds(value any, message string) string {
	n, ok := value.(float64)
	m := bounds.FindStringSubmatch(message)
	if !ok || m == nil || m[1] != "" && n != math.Trunc(n) {
		return ""
	}
	bound, most := m[2]+m[4], false
	if least, err := strconv.ParseFloat(bound, 64); err != nil || n >= least {
		bound, most = m[3], true
	}
	switch {
	case bound == "":
		return ""
	case m[1] == "":
		bound += ".0" // a fraction is allowed
	}
	if most {
		return "Maximum value is " + bound
	}
	return "Minimum value is " + bound
}
