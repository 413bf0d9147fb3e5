package storage

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// Masked is the JSON string that replaces a secret.
const Masked = "***"

var masked = []byte(`"` + Masked + `"`)

// Secrets name the values that logs, histories, pages and exports of a run must mask. The store keeps the values
// themselves, because the run needs them. The zero Secrets names none.
type Secrets struct {
	// Symbols are names of members of JSON objects. Mask replaces their values in every value of the run, at any
	// depth.
	Symbols []string
	// Atoms are paths of atoms whose results are masked as a whole; "*" is all atoms. A path without numbers matches
	// all visits and children: Ship/Pack also matches Ship[3]/Pack#2.
	Atoms []string
}

// Mask returns v with its secrets replaced by the JSON string [Masked]. Path is the path of the atom whose result v
// is, "" for every other value. All other bytes of v stay the same; if v contains no secret, Mask returns v itself.
// If there are Symbols and Mask cannot decode the codec of v, it masks all of v.
func (s Secrets) Mask(path string, v atom.Value) atom.Value {
	switch {
	case len(v) == 0:
		return v
	case path != "" && s.hides(path):
		return atom.FromJSON(masked)
	case len(s.Symbols) == 0:
		return v
	case v[0] != atom.CodecJSON:
		return atom.FromJSON(masked)
	}
	return s.maskMembers(v)
}

// hides reports whether the atom's result is secret.
func (s Secrets) hides(path string) bool {
	if len(s.Atoms) == 0 {
		return false
	}
	return slices.Contains(s.Atoms, path) || slices.Contains(s.Atoms, "*") ||
		slices.Contains(s.Atoms, withoutNumbers(path))
}

// withoutNumbers removes the numbers of visits and children from a path.
func withoutNumbers(path string) string {
	if !strings.ContainsAny(path, "[#") {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		part, _, _ = nodepath.CutIndex(part)
		parts[i], _ = nodepath.CutVisit(part)
	}
	return strings.Join(parts, "/")
}

// maskMembers finds the names of members as the strings that a colon follows. It therefore needs to understand
// neither the nesting nor the values between.
func (s Secrets) maskMembers(v atom.Value) atom.Value {
	text := []byte(v)
	var out []byte // nil until something is masked
	kept := 0      // text before this index is in out
	for i := 1; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		name := i
		i = endOfString(text, i)
		colon := skipSpace(text, i)
		if colon == len(text) || text[colon] != ':' || !s.names(text[name:i]) {
			continue
		}
		i = skipSpace(text, colon+1)
		out = append(append(out, text[kept:i]...), masked...)
		i = endOfValue(text, i)
		kept = i
	}
	if out == nil {
		return v
	}
	return append(out, text[kept:]...)
}

// names reports whether a quoted name is one of Symbols.
func (s Secrets) names(quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) > 1 && slices.Contains(s.Symbols, string(quoted[1:len(quoted)-1]))
	}
	var name string
	return json.Unmarshal(quoted, &name) == nil && slices.Contains(s.Symbols, name)
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// endOfString returns the index after the string that begins at i.
func endOfString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// endOfValue returns the index after the value that begins at i.
func endOfValue(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			if i = endOfString(text, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 { // end of the object or array that contains the value
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(text)
}
