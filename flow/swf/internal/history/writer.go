package history

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/ebbflow/ebb/atom"
)

// Attributes are the attributes of one event, written member by member.
type Attributes struct{ text []byte }

func (a *Attributes) member(name string) {
	if a.text == nil {
		a.text = append(make([]byte, 0, 256), atom.CodecJSON, '{')
	} else {
		a.text = append(a.text, ',')
	}
	a.text = append(a.text, '"')
	a.text = append(a.text, name...)
	a.text = append(a.text, `":`...)
}

// Text writes a string.
func (a *Attributes) Text(name, value string) *Attributes {
	a.member(name)
	a.text = appendText(a.text, value)
	return a
}

// Given writes a string unless it is nil, even if it is empty.
func (a *Attributes) Given(name string, value *string) *Attributes {
	if value != nil {
		a.Text(name, *value)
	}
	return a
}

// Filled writes a string if it is not empty.
func (a *Attributes) Filled(name, value string) *Attributes {
	if value != "" {
		a.Text(name, value)
	}
	return a
}

// Ref writes the id of an event.
func (a *Attributes) Ref(name string, event int64) *Attributes {
	a.member(name)
	a.text = strconv.AppendInt(a.text, event, 10)
	return a
}

// Decided writes the reference to a completed decision task.
func (a *Attributes) Decided(event int64) *Attributes { return a.Ref(decisionTaskCompletedRef, event) }

// Type writes a type.
func (a *Attributes) Type(member, name, version string) *Attributes {
	return a.pair(member, "name", name, "version", version)
}

// Execution writes an execution.
func (a *Attributes) Execution(member, workflowID, runID string) *Attributes {
	return a.pair(member, "workflowId", workflowID, "runId", runID)
}

// List writes a task list.
func (a *Attributes) List(member, name string) *Attributes {
	a.member(member)
	a.text = append(a.text, `{"name":`...)
	a.text = append(appendText(a.text, name), '}')
	return a
}

// Tags writes a list of tags if it has any.
func (a *Attributes) Tags(member string, tags []string) *Attributes {
	if len(tags) == 0 {
		return a
	}
	a.member(member)
	for i, tag := range tags {
		a.text = append(a.text, "[,"[min(i, 1)])
		a.text = appendText(a.text, tag)
	}
	a.text = append(a.text, ']')
	return a
}

// Value returns the attributes as an object. Nothing may be written after that.
func (a *Attributes) Value() atom.Value {
	if a.text == nil {
		return atom.FromJSON([]byte("{}"))
	}
	a.text = append(a.text, '}')
	return a.text
}

func (a *Attributes) pair(member, key1, value1, key2, value2 string) *Attributes {
	a.member(member)
	a.text = append(a.text, `{"`+key1+`":`...)
	a.text = appendText(a.text, value1)
	a.text = append(a.text, `,"`+key2+`":`...)
	a.text = append(appendText(a.text, value2), '}')
	return a
}

// appendText appends a string as JSON.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			var text bytes.Buffer
			enc := json.NewEncoder(&text)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(s) // a string can always be encoded
			return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
