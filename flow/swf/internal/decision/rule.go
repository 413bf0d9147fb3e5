package decision

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	//limit:swf tags of an execution | {} | `ValidationException`
	maxTags = 5
	// MaxSeconds is the largest timeout, one year. It is also the longest time that an execution may be open.
	MaxSeconds = 31_536_000
	maxLambda  = 900
	// None is the value of a timeout without a limit.
	None = "NONE"
)

// Kinds of values inside other values.
const (
	typeVersion Kind = Tags + 1 + iota
	tagKind
)

// A rule is the constraint of a kind.
type rule struct {
	least, most int               // characters
	blank       bool              // "" in an optional member is as if the member were absent
	valid       func(string) bool // nil if every text is
	constraint  string            // what valid requires
}

const (
	idPattern      = `(?!arn$)[^\u0000-\u001f\u007f-\u009f]+`
	namePattern    = `(?!arn$)[^:/|\u0000-\u001f\u007f-\u009f]+`
	timeoutPattern = "[0-9]+|NONE"
	secondsPattern = "[0-9]+"
)

var rules = map[Kind]rule{
	ID:       {least: 1, most: 256, valid: IsID, constraint: pattern(idPattern) + ", without a blank at its ends"},
	ListName: {least: 1, most: 256, valid: IsName, constraint: pattern(namePattern) + ", without a blank at its ends"},
	WorkflowID: {
		least: 1, most: 256, valid: IsWorkflowID,
		constraint: pattern(idPattern) + ", without a blank at its ends or " + UndoSuffix + " at its end",
	},
	Name:        {least: 1, most: 256},
	typeVersion: {least: 1, most: 64},
	tagKind:     {most: 256},
	Data:        {most: 32768},
	Reason:      {most: 256},
	RunID:       {most: 64, blank: true},
	Version:     {most: 64, blank: true},
	Timeout: {
		most: 8, blank: true, valid: func(s string) bool { return s == None || isSeconds(s, MaxSeconds) },
		constraint: pattern(timeoutPattern) + fmt.Sprintf(", of at most %d seconds", MaxSeconds),
	},
	Duration: {
		most: 8, blank: true, valid: func(s string) bool { return isSeconds(s, MaxSeconds) },
		constraint: pattern(secondsPattern) + fmt.Sprintf(", of at most %d seconds", MaxSeconds),
	},
	Seconds: {
		least: 1, most: 8, valid: func(s string) bool { return isSeconds(s, MaxSeconds) },
		constraint: pattern(secondsPattern) + fmt.Sprintf(", of at most %d seconds", MaxSeconds),
	},
	Lambda: {
		most: 8, blank: true,
		valid:      func(s string) bool { return isSeconds(s, maxLambda) && strings.Trim(s, "0") != "" },
		constraint: pattern(secondsPattern) + fmt.Sprintf(", from 1 to %d seconds", maxLambda),
	},
	Priority: {
		most: 11, blank: true, valid: isPriority,
		constraint: "Member must be an integer between -2147483648 and 2147483647",
	},
	Policy:   {most: 256, blank: true, valid: isPolicy, constraint: oneOf(policies)},
	Role:     {most: 1600, blank: true},
	Function: {least: 1, most: 64},
}

// Check returns the constraint that a text of that kind violates, in the words of the service, or "".
func Check(kind Kind, text string) string {
	r := rules[kind]
	switch n := utf8.RuneCountInString(text); {
	case n < r.least:
		return fmt.Sprintf("Member must have length greater than or equal to %d", r.least)
	case n > r.most:
		return atMost(r.most)
	case r.valid != nil && !r.valid(text):
		return r.constraint
	}
	return ""
}

// UndoSuffix is the end of the workflowId of an execution that undoes another one. No client starts one.
const UndoSuffix = ":undo"

// IsWorkflowID reports whether an execution may start with that workflowId.
func IsWorkflowID(s string) bool { return IsID(s) && !strings.HasSuffix(s, UndoSuffix) }

// IsName reports whether a text may be the name of something: it may be an id, and has no colon, slash or vertical bar.
func IsName(s string) bool { return IsID(s) && !strings.ContainsAny(s, ":/|") }

// IsID reports whether a text may be the id of something: it has no control character and no blank at its ends, and is
// not "arn". The documentation also forbids the characters of [IsName], but clients have ids with them.
func IsID(s string) bool {
	return s != "arn" && !strings.ContainsFunc(s, unicode.IsControl) && strings.TrimSpace(s) == s
}

var policies = []string{"TERMINATE", "REQUEST_CANCEL", "ABANDON"}

func isPolicy(s string) bool { return slices.Contains(policies, s) }

func isPriority(s string) bool {
	_, err := strconv.ParseInt(s, 10, 32)
	return err == nil && s[0] != '+'
}

func isSeconds(s string, most int) bool {
	n, err := strconv.ParseUint(s, 10, 32)
	return err == nil && n <= uint64(most)
}

func atMost(n int) string { return fmt.Sprintf("Member must have length less than or equal to %d", n) }

func pattern(p string) string { return "Member must satisfy regular expression pattern: " + p }

func oneOf(values []string) string {
	return "Member must satisfy enum value set: [" + strings.Join(values, ", ") + "]"
}

const notNull = "Member must not be null"

// ErrClose says that a decision follows one that closes the execution.
var ErrClose = errors.New("Close must be last decision in list") //nolint:staticcheck // the words of the service

// A Violation is a constraint that a member violates.
type Violation struct {
	Value      *string // nil is null
	Member     string  // path of the member
	Constraint string  // in the words of the service
}

// maxShown limits, in bytes, how much of a value a message repeats.
const maxShown = 300

// String returns the violation in the words of the service.
func (v Violation) String() string {
	value := "null"
	if v.Value != nil {
		shown := *v.Value
		if len(shown) > maxShown {
			shown = strings.ToValidUTF8(shown[:maxShown], "") + "…"
		}
		value = "'" + shown + "'"
	}
	return fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", value, v.Member, v.Constraint)
}

// ConstraintErrors are all constraints that a request violates.
type ConstraintErrors []Violation

// maxListed limits how many violations a message lists.
const maxListed = 100

// Error returns the message of the service. It counts all violations and lists the first hundred.
func (v ConstraintErrors) Error() string {
	listed := make([]string, 0, min(len(v), maxListed))
	for _, one := range v[:min(len(v), maxListed)] {
		listed = append(listed, one.String())
	}
	noun := "errors"
	if len(v) == 1 {
		noun = "error"
	}
	return fmt.Sprintf("%d validation %s detected: %s", len(v), noun, strings.Join(listed, "; "))
}

// Checked returns the errors and the constraint that the value of a member outside a decision violates, if it does.
// blank says that "" is as if the member were absent.
func (v ConstraintErrors) Checked(member string, kind Kind, text string, blank bool) ConstraintErrors {
	if blank && text == "" {
		return v
	}
	if constraint := Check(kind, text); constraint != "" {
		return append(v, Violation{&text, member, constraint})
	}
	return v
}
