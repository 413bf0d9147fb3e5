package server

import "net/http"

// Commands is a handler of the requests that change something in Ebb, such as cancelling a run. It lists them, so that
// package console can show a form for each. Package api implements it.
type Commands interface {
	http.Handler
	// Operations returns the requests that the handler accepts.
	Operations() []Operation
	// Drafts returns the requests of an editor of definitions: "validate", "try" and "definitions", which stores
	// one. It is empty if the handler knows no languages.
	Drafts() []Operation
	// Trials returns the trials of definitions that the handler keeps; nil if it can try none.
	Trials() *Trials
}

// An Operation is a request that changes something.
type Operation struct {
	Name    string  // such as "cancel", the last part of its path
	Of      string  // what it is applied to: "run", "token", "job", "schedule", or "" if it names that in its fields
	Path    string  // such as "/api/v1/runs/{run}/cancel"
	Summary string  // what it does
	Fields  []Field // members of its body, which is an object of JSON
}

// A Field is a member of the body of an [Operation].
type Field struct {
	Name string    // name of the member
	Kind FieldKind // what its value is
	Text string    // what it means
	// Choices are all values that a text may have; nil if there are others.
	Choices []string
}

// A FieldKind is what the value of a [Field] is.
type FieldKind string

// The kinds of fields.
const (
	FieldText    FieldKind = "text"
	FieldLines   FieldKind = "lines" // a text of several lines
	FieldBool    FieldKind = "bool"
	FieldNumber  FieldKind = "number"
	FieldValue   FieldKind = "value"   // any value of JSON
	FieldObject  FieldKind = "object"  // an object of JSON with any values
	FieldStrings FieldKind = "strings" // an object of JSON whose values are texts
)
