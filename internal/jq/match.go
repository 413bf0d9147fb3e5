package jq

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// guardedMatch is called with a regular expression, its flags, whether only a yes or no is wanted, and the meter. It
// replaces gojq's own _match. Its time is in proportion to the text, and it keeps compiled expressions only during the
// evaluation.
func guardedMatch(v any, args []any) any {
	m := args[3].(*meter) //nolint:forcetypeassert // this package makes the call
	text, ok := v.(string)
	if !ok {
		return &runError{"only a string can be matched, not " + preview(v)}
	}
	pattern, ok := args[0].(string)
	if !ok {
		return &runError{"a regular expression is a string, not " + preview(args[0])}
	}
	flags, ok := args[1].(string)
	if !ok && args[1] != nil {
		return &runError{"the flags of a regular expression are a string, not " + preview(args[1])}
	}
	found, err := m.match(text, pattern, flags, args[2] == true)
	if err != nil {
		return err
	}
	return found
}

func preview(v any) string { return gojq.TypeOf(v) + " (" + gojq.Preview(v) + ")" }

func (m *meter) match(text, pattern, flags string, testing bool) (any, error) {
	if err := m.charge(1 + len(text)*(1+len(pattern)/8)/stepBytes); err != nil {
		return nil, err
	}
	r, err := m.regexp(pattern, flags)
	if err != nil {
		return nil, err
	}
	if testing {
		return r.MatchString(text), nil
	}
	most := 1
	if strings.ContainsRune(flags, 'g') {
		most = -1
	}
	found := r.all(text, most)
	if err := m.reserve(len(found) * 8 * memberSize * (1 + r.NumSubexp())); err != nil {
		return nil, err
	}
	return r.describe(text, found), nil
}

// regexp compiles a regular expression, unless this evaluation has compiled it before.
func (m *meter) regexp(pattern, flags string) (*matcher, error) {
	key := flags + "/" + pattern
	if r := m.regexps[key]; r != nil {
		return r, nil
	}
	if len(pattern) > maxPattern || len(flags) > 8 {
		return nil, &limitError{"a regular expression is longer than it may be"}
	}
	r, err := newMatcher(pattern, flags)
	if err != nil {
		return nil, err
	}
	if m.regexps == nil || len(m.regexps) >= maxRegexps {
		m.regexps = map[string]*matcher{}
	}
	m.regexps[key] = r
	return r, m.charge(len(pattern) * 32)
}

// A matcher is a compiled regular expression. Unlike Go, jq also reports an empty match that abuts the match before it.
type matcher struct {
	*regexp.Regexp

	behind *regexp.Regexp // one character, followed by the expression
}

func newMatcher(pattern, flags string) (*matcher, error) {
	if unknown := strings.Trim(flags, "gim"); unknown != "" {
		return nil, &runError{fmt.Sprintf("regular expressions have no flag %q", unknown)}
	}
	if strings.ContainsRune(flags, 'i') {
		pattern = "(?i)" + pattern
	}
	if strings.ContainsRune(flags, 'm') {
		pattern = "(?s)" + pattern
	}
	r, err := regexp.Compile(pattern)
	if err != nil {
		return nil, &runError{err.Error()}
	}
	behind, err := regexp.Compile(`\A(?s:.)(?:` + pattern + `)`)
	if err != nil {
		behind = nil
	}
	return &matcher{r, behind}, nil
}

// all returns the offsets of the matches and their groups, in bytes.
func (r *matcher) all(text string, most int) [][]int {
	found := r.FindAllStringSubmatchIndex(text, most)
	if most == 1 || r.behind == nil {
		return found
	}
	var out [][]int
	for i, place := range found {
		out = append(out, place)
		abuts := i+1 < len(found) && found[i+1][0] == place[1]
		if place[0] == place[1] || abuts {
			continue
		}
		if empty := r.emptyAt(text, place[1]); empty != nil {
			out = append(out, empty)
		}
	}
	return out
}

// emptyAt looks for an empty match that follows another match.
func (r *matcher) emptyAt(text string, at int) []int {
	_, width := utf8.DecodeLastRuneInString(text[:at])
	// An empty match depends only on the characters around it.
	_, next := utf8.DecodeRuneInString(text[at:])
	place := r.behind.FindStringSubmatchIndex(text[at-width : at+next])
	if place == nil || place[1] != width {
		return nil
	}
	out := []int{at, at}
	for _, p := range place[2:] {
		if p >= 0 {
			p += at - width
		}
		out = append(out, p)
	}
	return out
}

// describe returns matches as jq does, with offsets in characters.
func (r *matcher) describe(text string, found [][]int) []any {
	c := counter{text: text}
	names := r.SubexpNames()
	out := make([]any, len(found))
	for i, place := range found {
		whole := c.place(place[0], place[1])
		captures := make([]any, len(names)-1)
		for j := range captures {
			from, to := place[2*j+2], place[2*j+3]
			capture := map[string]any{"offset": -1, "length": 0, "string": nil}
			if from >= 0 {
				inner := c
				capture = inner.place(from, to)
			}
			capture["name"] = nil
			if names[j+1] != "" {
				capture["name"] = names[j+1]
			}
			captures[j] = capture
		}
		whole["captures"] = captures
		out[i] = whole
	}
	return out
}

// A counter counts characters from front to back.
type counter struct {
	text         string
	bytes, chars int
}

func (c *counter) place(from, to int) map[string]any {
	if from < c.bytes { // a group may start before the offset of the previous call
		c.bytes, c.chars = 0, 0
	}
	c.chars += utf8.RuneCountInString(c.text[c.bytes:from])
	c.bytes = from
	return map[string]any{"offset": c.chars, "length": utf8.RuneCountInString(c.text[from:to]), "string": c.text[from:to]}
}
