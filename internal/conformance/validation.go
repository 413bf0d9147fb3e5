package conformance

import (
	"encoding/json"
	"testing"
)

// A Verdict is a definition with the judgments of other implementations: a line of asl/validation.jsonl.
type Verdict struct {
	Name       string
	Provenance string
	Type       string // STANDARD, EXPRESS or none
	Valid      bool
	Fragment   bool // part of a machine
	Problems   []struct {
		Code     string
		Location string
	}
	Definition json.RawMessage
	Text       *string `json:"definition_text"` // for cases about the text itself
}

// Source returns the definition's text.
func (v *Verdict) Source() []byte {
	if v.Text != nil {
		return []byte(*v.Text)
	}
	return v.Definition
}

// Codes returns the codes that AWS gave, without repetitions.
func (v *Verdict) Codes() map[string]bool {
	codes := map[string]bool{}
	for _, p := range v.Problems {
		if p.Code != "" {
			codes[p.Code] = true
		}
	}
	return codes
}

// Locations returns the slash paths that AWS gave.
func (v *Verdict) Locations() []string {
	var locations []string
	for _, p := range v.Problems {
		if len(p.Location) > 0 && p.Location[0] == '/' {
			locations = append(locations, p.Location)
		}
	}
	return locations
}

// Verdicts returns the definitions that other implementations have judged.
func Verdicts(tb testing.TB) []*Verdict {
	tb.Helper()
	return lines[Verdict](tb, "asl/validation.jsonl")
}

// A Sample is a real definition of a user: a line of asl/samples.jsonl.
type Sample struct {
	Name       string
	Definition json.RawMessage
}

// Samples returns the real definitions of users.
func Samples(tb testing.TB) []*Sample {
	tb.Helper()
	return lines[Sample](tb, "asl/samples.jsonl")
}
