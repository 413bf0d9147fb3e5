package aws

import (
	"regexp"
)

// NoLimit is the maximum of a length that has none.
const NoLimit = -1

// A Shape says which values a parameter may have: the type, and the constraints that the service's model names. Its
// constructors are made for tables of shapes. A Shape does not change when it is refined: a method returns a copy.
type Shape struct {
	kind    kind
	members []Member // of a structure, in the order of errors
	element *Shape   // of a list
	least   int64    // of a length in characters or elements, or of a number
	most    int64    // the same; a length may be NoLimit
	pattern string   // as the model has it; "" means none
	matches *regexp.Regexp
	values  []string // of an enumeration, in the order of errors
	rule    string   // constraint that holds says of a text, in the words of AWS; "" means none
	holds   func(text string) bool
	secret  bool
}

type kind uint8

const (
	structureKind kind = iota
	listKind
	stringKind
	integerKind
	longKind
	floatKind
	booleanKind
	timeKind
	jsonKind
)

// A Member is a member of a structure: [Required] and [Optional] make it.
type Member struct {
	name     string
	shape    *Shape
	required bool
}

// Required returns a member that must be there, and must not be null.
func Required(name string, shape *Shape) Member { return Member{name, shape, true} }

// Optional returns a member that may be missing. If the member is null, it is missing.
func Optional(name string, shape *Shape) Member { return Member{name, shape, false} }

// Structure returns the shape of an object. Members that it does not name are ignored.
func Structure(members ...Member) *Shape {
	return &Shape{kind: structureKind, members: orderMembers(members)}
}

// List returns the shape of an array of least to most elements. Elements that are null are left out.
func List(element *Shape, least, most int) *Shape {
	return &Shape{kind: listKind, element: element, least: int64(least), most: int64(most)}
}

// String returns the shape of a text of least to most characters (code points).
func String(least, most int) *Shape {
	return &Shape{kind: stringKind, least: int64(least), most: int64(most)}
}

// Enum returns the shape of a text that is one of some values, in the order of the service's model. Errors list them in
// the order of AWS.
func Enum(values ...string) *Shape {
	return &Shape{kind: stringKind, most: NoLimit, values: orderValues(values)}
}

// Integer returns the shape of a whole number of 32 bits. As at AWS, decimals are cut off.
func Integer(least, most int) *Shape {
	return &Shape{kind: integerKind, least: int64(least), most: int64(most)}
}

// Long returns the shape of a whole number of 64 bits. As at AWS, decimals are cut off.
func Long(least, most int64) *Shape { return &Shape{kind: longKind, least: least, most: most} }

// Float returns the shape of a number. Its bounds are whole.
func Float(least, most int) *Shape {
	return &Shape{kind: floatKind, least: int64(least), most: int64(most)}
}

// Boolean returns the shape of true and false.
func Boolean() *Shape { return &Shape{kind: booleanKind} }

// Timestamp returns the shape of a [Time].
func Timestamp() *Shape { return &Shape{kind: timeKind} }

// JSON returns the shape of a value that the operation decodes itself. The field for it is a [json.RawMessage].
func JSON() *Shape { return &Shape{kind: jsonKind} }

// Pattern returns the shape of a text that matches a regular expression as a whole. The expression must mean the same
// in Java and in Go. Pattern panics if it is not an expression of Go.
func (s *Shape) Pattern(java string) *Shape { return s.PatternAs(java, java) }

// PatternAs is [Shape.Pattern] for an expression of Java that Go does not have, such as one that looks ahead. Errors
// show the expression of Java.
func (s *Shape) PatternAs(java, golang string) *Shape {
	refined := *s
	refined.pattern, refined.matches = java, regexp.MustCompile(`\A(?:`+golang+`)\z`)
	return &refined
}

// Where returns the shape of a text for which holds is true. Errors show the constraint, which has the words of AWS.
func (s *Shape) Where(constraint string, holds func(text string) bool) *Shape {
	refined := *s
	refined.rule, refined.holds = constraint, holds
	return &refined
}

// isScalar reports whether values of the shape have no parts.
func (s *Shape) isScalar() bool { return s.kind != structureKind && s.kind != listKind }

// Secret returns the shape of a value that errors must not show.
func (s *Shape) Secret() *Shape {
	refined := *s
	refined.secret = true
	return &refined
}
