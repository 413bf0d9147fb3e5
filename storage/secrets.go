package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
)

// Masked replaces a secret: a JSON string.
const Masked = "***"

var masked = []byte(`"` + Masked + `"`)

// Secrets name the values that no view of a run may show: logs, histories, pages, exports.
// The store keeps the values themselves, because the run needs them. The zero Secrets
// names none.
type Secrets struct {
	// Symbols are names of members of objects. Their values are masked in every
	// value of the run, at any depth.
	Symbols []string
	// Atoms are paths of atoms whose results are masked as a whole. A path
	// without numbers stands for all visits and children: Ship/Pack for
	// Ship[3]/Pack#2, too.
	Atoms []string
}

// Mask returns v with its secrets replaced by the JSON string [Masked]. Path is that of
// the atom whose result v is, "" for every other value. All else stays as it is, byte for
// byte; if v contains no secret, Mask returns v itself. If there are Symbols, a value whose
// codec is not known is masked as a whole, because Mask cannot decode it.
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

// hides reports whether the result of the atom is secret.
func (s Secrets) hides(path string) bool {
	if len(s.Atoms) == 0 {
		return false
	}
	return slices.Contains(s.Atoms, path) || slices.Contains(s.Atoms, withoutNumbers(path))
}

// withoutNumbers returns the path without the numbers of visits and children.
func withoutNumbers(path string) string {
	if !strings.ContainsAny(path, "[#") {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if open := strings.LastIndexByte(part, '['); open > 0 && strings.HasSuffix(part, "]") && isNumber(part[open+1:len(part)-1]) {
			part = part[:open]
		}
		if mark := strings.LastIndexByte(part, '#'); mark > 0 && isNumber(part[mark+1:]) {
			part = part[:mark]
		}
		parts[i] = part
	}
	return strings.Join(parts, "/")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// maskMembers looks for the names of members, which are the strings that a colon
// follows: so neither the nesting nor what is between needs to be understood.
func (s Secrets) maskMembers(v atom.Value) atom.Value {
	text := []byte(v)
	var out []byte // nil as long as nothing was masked
	kept := 0      // up to where text is in out
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

// names reports whether a quoted name is that of a secret.
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

// endOfString returns the index behind the string that begins at i.
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

// endOfValue returns the index behind the value that begins at i.
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
			if depth < 0 { // of what the value is in
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

func (s Secrets) check() error {
	if n := len(s.Symbols) + len(s.Atoms); n > MaxSecrets {
		return fmt.Errorf("%w: %d secrets; want up to %d", ErrInvalid, n, MaxSecrets)
	}
	for _, name := range slices.Concat(s.Symbols, s.Atoms) {
		if name == "" || len(name) > MaxSecret {
			return fmt.Errorf("%w: the name of a secret, %.20q, has %d bytes; want 1 to %d", ErrInvalid, name, len(name), MaxSecret)
		}
	}
	return nil
}
