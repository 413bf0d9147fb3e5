package definition

import (
	"bytes"
	"errors"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// FromText returns the definition in a text that came over the network, in JSON or YAML. It is no template: those name
// files.
func FromText(text []byte) *Source {
	s := &Source{text: text, Lines: splitLines(text)}
	if !isYAML(text) {
		if s.language = languageIn(text); s.language == ASL {
			s.fill()
		}
		return s
	}
	d, err := document.ParseYAML(text)
	if broken, ok := errors.AsType[*document.Error](err); ok {
		s.text = nil
		s.fail(broken.Place, broken.Problem)
		return s
	}
	s.take(d)
	return s
}

// isYAML reports whether a text without the name of a file is in YAML: it names a member, but not as JSON.
func isYAML(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && !strings.ContainsRune("{[\"", rune(text[0])) && bytes.ContainsRune(text, ':')
}

// Compile returns the definition as a machine that can be run.
func (s *Source) Compile(how Reading) (Machine, error) { return s.compile(how) }

// Place returns the place in the text of the user of an offset in the text that was compiled.
func (s *Source) Place(offset int) document.Place {
	if offset < 0 {
		return document.Place{Line: 1, Column: 1}
	}
	return s.position(offset)
}
