package atom

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The scanners find a part of a value without decoding the value, in one pass over its
// bytes. The texts come from an encoder or were checked on arrival. So the scanners do
// not validate them and stop at the first error.

// scanObject calls member with the quoted key and the text of each member of a
// JSON object.
func scanObject(text []byte, member func(key, val []byte)) {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return
	}
	i = skipSpace(text, i+1)
	for i < len(text) && text[i] == '"' {
		end := skipString(text, i)
		key := text[i:end]
		i = skipSpace(text, end)
		if i >= len(text) || text[i] != ':' {
			return
		}
		start := skipSpace(text, i+1)
		end = skipValue(text, start)
		if end == start {
			return
		}
		member(key, text[start:end])
		i = skipSpace(text, end)
		if i >= len(text) || text[i] != ',' {
			return
		}
		i = skipSpace(text, i+1)
	}
}

// scanArray calls element with the text of each element of a JSON array.
func scanArray(text []byte, element func(val []byte)) {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '[' {
		return
	}
	i = skipSpace(text, i+1)
	for i < len(text) && text[i] != ']' {
		end := skipValue(text, i)
		if end == i {
			return
		}
		element(text[i:end])
		i = skipSpace(text, end)
		if i >= len(text) || text[i] != ',' {
			return
		}
		i = skipSpace(text, i+1)
	}
}

// keyIs reports whether the quoted JSON string is key.
func keyIs(quoted []byte, key string) bool {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == key
	}
	var s string
	return json.Unmarshal(quoted, &s) == nil && s == key
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that starts at i.
func skipString(text []byte, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(text)
}

// skipValue returns the index behind the value that starts at i.
func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch c := text[i]; c {
		case '"':
			i = skipString(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(text) && strings.IndexByte(",:]} \n\t\r", text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}
