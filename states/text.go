package states

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown is returned for a text or a number without a state of its kind.
var ErrUnknown = errors.New("unknown state")

// vocabulary is the spelling of one kind: the name of each state, with its number as the index.
type vocabulary struct {
	kind  string
	names []string
}

func (v *vocabulary) text(n uint8) string {
	if int(n) < len(v.names) {
		return v.names[n]
	}
	return fmt.Sprintf("%s(%d)", v.kind, n)
}

func (v *vocabulary) marshal(n uint8) ([]byte, error) {
	if int(n) < len(v.names) {
		return []byte(v.names[n]), nil
	}
	return nil, fmt.Errorf("states: %w: %s number %d (the last one is %d)", ErrUnknown, v.kind, n, len(v.names)-1)
}

// unmarshal does not change n if it refuses the text.
func (v *vocabulary) unmarshal(text []byte, n *uint8) error {
	i := v.index(string(text))
	if i < 0 {
		return fmt.Errorf("states: %w: %s %.40q (legal: %s)", ErrUnknown, v.kind, text, strings.Join(v.names, ", "))
	}
	*n = uint8(i)
	return nil
}

// index compares exactly, because marshal wrote the text. It returns -1 for an unknown text.
func (v *vocabulary) index(text string) int { return slices.Index(v.names, text) }
