package aws

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxViolations is how many violations an error lists. Else it could be a hundred times as long as the request.
//
//limit:protocol violations that one error lists | {} | counted
const maxViolations = 100

// violations are the problems with the parameters of a request, in the words of AWS.
type violations struct {
	count int
	texts []string // at most maxViolations
}

// add adds the violation of a constraint by a value, which is what quoted returned.
func (v *violations) add(value string, at *place, constraint string) {
	if v.count++; len(v.texts) < maxViolations {
		v.texts = append(v.texts, "Value"+value+" at '"+at.String()+"' failed to satisfy constraint: "+constraint)
	}
}

// addNull adds the violation of a member that is missing. Of a secret member, AWS does not even say that it is null.
func (v *violations) addNull(s *Shape, at *place) {
	value := " null"
	if s.secret {
		value = ""
	}
	v.add(value, at, "Member must not be null")
}

// err returns the error that lists the violations; nil if there are none.
func (v *violations) err() error {
	if v.count == 0 {
		return nil
	}
	plural := "s"
	if v.count == 1 {
		plural = ""
	}
	return Errorf(codeValidation, "%d validation error%s detected: %s", v.count, plural, strings.Join(v.texts, "; "))
}

// check checks a value that is not a structure or a list.
func (v *violations) check(s *Shape, value reflect.Value, at *place) {
	for _, c := range s.broken(value) {
		v.add(quoted(s, value), at, c)
	}
}

// checkList checks a list of n elements. One violation is for all elements that break a constraint, as they have no
// names.
func (v *violations) checkList(s *Shape, list reflect.Value, n int, broken bool, at *place) {
	var constraints []string
	if broken {
		constraints = []string{"Member must satisfy constraint: [" + strings.Join(s.element.constraints(), ", ") + "]"}
	}
	most := s.most
	if most == NoLimit {
		most = maxElements
	}
	constraints = append(constraints, lengthBroken(int64(n), s.least, most)...)
	for _, c := range constraints {
		v.add(quoted(s, list), at, c)
	}
}

// broken returns the constraints that a value does not satisfy.
func (s *Shape) broken(value reflect.Value) []string {
	switch s.kind {
	case stringKind:
		text := value.String()
		var constraints []string
		if s.matches != nil && !s.matches.MatchString(text) {
			constraints = append(constraints, s.patternRule())
		}
		if s.holds != nil && !s.holds(text) {
			constraints = append(constraints, s.rule)
		}
		constraints = append(constraints, lengthBroken(int64(utf8.RuneCountInString(text)), s.least, s.most)...)
		if s.values != nil && !slices.Contains(s.values, text) {
			constraints = append(constraints, s.enumRule())
		}
		return constraints
	case integerKind, longKind:
		switch n := value.Int(); {
		case n < s.least:
			return []string{valueAtLeast(s.least)}
		case n > s.most:
			return []string{valueAtMost(s.most)}
		}
	case floatKind:
		switch f := value.Float(); {
		case f < float64(s.least):
			return []string{valueAtLeast(s.least)}
		case f > float64(s.most):
			return []string{valueAtMost(s.most)}
		}
	case structureKind, listKind, booleanKind, timeKind, jsonKind:
	}
	return nil
}

// constraints returns all constraints of a shape, in the order in which AWS lists those of elements.
func (s *Shape) constraints() (all []string) {
	switch {
	case s.values != nil:
		all = append(all, s.enumRule())
	case s.kind == stringKind:
		if s.most != NoLimit {
			all = append(all, lengthAtMost(s.most))
		}
		all = append(all, lengthAtLeast(s.least))
		if s.matches != nil {
			all = append(all, s.patternRule())
		}
		if s.holds != nil {
			all = append(all, s.rule)
		}
	default:
		all = append(all, valueAtMost(s.most), valueAtLeast(s.least))
	}
	return all
}

func lengthBroken(n, least, most int64) []string {
	switch {
	case n < least:
		return []string{lengthAtLeast(least)}
	case most != NoLimit && n > most:
		return []string{lengthAtMost(most)}
	}
	return nil
}

func lengthAtLeast(n int64) string {
	return fmt.Sprintf("Member must have length greater than or equal to %d", n)
}

func lengthAtMost(n int64) string {
	return fmt.Sprintf("Member must have length less than or equal to %d", n)
}

func valueAtLeast(n int64) string {
	return fmt.Sprintf("Member must have value greater than or equal to %d", n)
}

func valueAtMost(n int64) string {
	return fmt.Sprintf("Member must have value less than or equal to %d", n)
}

func (s *Shape) patternRule() string {
	return "Member must satisfy regular expression pattern: " + s.pattern
}

func (s *Shape) enumRule() string {
	return "Member must satisfy enum value set: [" + strings.Join(s.values, ", ") + "]"
}

// quoted returns a value for a message; "" if it is secret, or a list with elements that AWS does not write as JSON.
func quoted(s *Shape, value reflect.Value) string {
	if s.secret || s.kind == listKind && value.Len() > 0 && (s.element.secret || !s.element.isScalar()) {
		return ""
	}
	return " '" + shown(s, value) + "'"
}

// shown returns a value as Java writes it.
func shown(s *Shape, value reflect.Value) string {
	switch s.kind {
	case stringKind:
		return value.String()
	case integerKind, longKind:
		return strconv.FormatInt(value.Int(), 10)
	case floatKind:
		text := strconv.FormatFloat(value.Float(), 'g', -1, 64)
		if !strings.ContainsAny(text, ".eI") {
			text += ".0"
		}
		return text
	case listKind:
		texts := make([]string, value.Len())
		for i := range texts {
			texts[i] = shown(s.element, value.Index(i))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case structureKind, booleanKind, timeKind, jsonKind: // they break no constraint
	}
	return fmt.Sprint(value.Interface())
}

// A place is where a value is in the parameters: a member of a structure, or an element of a list.
type place struct {
	up    *place
	name  string // of a member
	index int    // of an element; the first is 1
}

// String returns the place as AWS writes it, such as "tags.1.member.key".
func (p *place) String() string {
	var parts []string
	for ; p != nil; p = p.up {
		if p.index > 0 {
			parts = append(parts, "member", strconv.Itoa(p.index))
		} else {
			parts = append(parts, p.name)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}
