package definition

import (
	"encoding/json"
	"fmt"
)

// ReadState returns the JSON of a file in the Amazon States Language. The file defines a machine if the name of a state
// is given, otherwise a single state.
func ReadState(file, state string, how Reading) ([]byte, error) {
	p, err := ReadProject(file, how)
	if err != nil {
		return nil, err
	}
	if len(p.Sources) != 1 {
		return nil, fmt.Errorf("%s has %d state machines: name one of them, %s#MACHINE", file, len(p.Sources), file)
	}
	src := p.Sources[0]
	var is struct {
		Type   json.RawMessage `json:"Type"`
		States json.RawMessage `json:"States"`
	}
	switch {
	case src.text == nil:
		return nil, src.problems
	case src.language == SM4C:
		return nil, fmt.Errorf("%s is in SM4C; only states of the Amazon States Language are tested alone (ebb test tests "+
			"machines)", file)
	case state == "" && json.Unmarshal(src.text, &is) == nil && is.States != nil && is.Type == nil:
		return nil, fmt.Errorf("%s defines a machine; name the state to test with --state", file)
	}
	return src.text, nil
}
