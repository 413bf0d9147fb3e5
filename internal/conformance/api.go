package conformance

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// A Transcript is a sequence of calls of an API and their answers: a line of asl/api.jsonl.
type Transcript struct {
	Name       string
	Provenance string // "aws", or "localstack", of which only whether it accepted a call counts
	Recorded   string
	Steps      []*APIStep
}

// An APIStep is a call of an API.
type APIStep struct {
	Op       string
	Key      string // name of the answer in the recorder's test
	Params   map[string]json.RawMessage
	Response json.RawMessage // nil if it was not recorded
	Error    *struct {       // nil if the call succeeded
		Code    string
		Message string
	}
}

// Transcripts returns the recorded sequences of calls.
func Transcripts(tb testing.TB) []*Transcript {
	tb.Helper()
	return lines[Transcript](tb, "asl/api.jsonl")
}

// Date returns the day on which the transcript was recorded.
func (t *Transcript) Date(tb testing.TB) time.Time {
	tb.Helper()
	at, err := time.Parse("02-01-2006, 15:04:05", t.Recorded)
	if err != nil {
		tb.Fatalf("%s: %v", t.Name, err)
	}
	return at
}

// An APIAnswer is Ebb's answer to a call.
type APIAnswer struct {
	Code, Message string          // error code; "" if the call succeeded
	Body          json.RawMessage // JSON of the answer
}

// A LaterMember is a member that the answers of an API have had since a day. Records from before that day do not have
// it.
type LaterMember struct {
	Name  string
	Since time.Time
}

// Compare returns where an answer first differs from the record, or "". The answer may have members that the API got
// after the record was made.
func (s *APIStep) Compare(got *APIAnswer, recorded time.Time, later []LaterMember) string {
	if s.Key == "error" && s.Error == nil && s.Response == nil {
		return "" // the recorder's client refused the call, so that AWS never answered it
	}
	switch {
	case s.Error == nil && got.Code != "":
		return fmt.Sprintf("%s is refused: %s: %s", s.Op, got.Code, got.Message)
	case s.Error != nil && got.Code == "":
		return s.Op + " is accepted"
	case s.Error != nil && s.Error.Code != "":
		if miss := difference(s.Op+" code", s.Error.Code, got.Code); miss != "" {
			return miss
		}
		if s.Error.Message != "" {
			return difference(s.Op+" message", s.Error.Message, got.Message)
		}
		return ""
	case s.Response == nil:
		return ""
	}
	younger := map[string]bool{}
	for _, m := range later {
		if recorded.Before(m.Since) {
			younger[m.Name] = true
		}
	}
	want := decoded(s.Response)
	return difference(s.Op, want, alike(want, decoded(got.Body), younger))
}

// alike returns an answer in the form of a record: values replace texts that contain JSON where the record has values.
// Members younger than the record are left out.
func alike(want, got any, younger map[string]bool) any {
	if text, is := got.(string); is {
		if _, wantsText := want.(string); !wantsText && json.Valid([]byte(text)) {
			return decoded(json.RawMessage(text))
		}
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := map[string]any{}
		for name, value := range g {
			wanted, known := w[name]
			if known || !younger[name] {
				out[name] = alike(wanted, value, younger)
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return got
		}
		out := make([]any, len(g))
		for i := range g {
			out[i] = alike(w[i], g[i], younger)
		}
		return out
	default:
		return got
	}
}
