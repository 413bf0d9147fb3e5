package states

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is returned when a text, or a number, names no state of its kind.
var ErrUnknown = errors.New("unknown state")

// vocabulary is the spelling of one kind: the name of each state at the index
// that is its number.
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

// parse is exact: no case folding and no trimming, because what is stored was
// written by marshal.
func (v *vocabulary) parse(text []byte) (uint8, error) {
	for n, name := range v.names {
		if string(text) == name {
			return uint8(n), nil
		}
	}
	return 0, fmt.Errorf("states: %w: %s %.40q (legal: %s)", ErrUnknown, v.kind, text, strings.Join(v.names, ", "))
}
