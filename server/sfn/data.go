package sfn

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/server/aws"
)

// maxNesting is how deep arrays and objects may nest in data.
const maxNesting = 500

// parseData returns a text that holds JSON as a value, or an error with the code. What says which text it is.
func parseData(code, what, text string) (atom.Value, error) {
	v := atom.FromJSON([]byte(text))
	var broken *json.SyntaxError
	switch err := json.Unmarshal(v.JSON(), new(json.RawMessage)); {
	case !utf8.ValidString(text):
		return nil, aws.Errorf(code, "%s: 'The text is not valid UTF-8'", what)
	case errors.As(err, &broken):
		at := fmt.Sprintf("%d of %d", broken.Offset, len(text))
		return nil, aws.Errorf(code, "%s: 'The text is not valid JSON (byte %s): %s'", what, at, broken.Error())
	case err != nil:
		return nil, aws.Errorf(code, "%s: '%s'", what, err.Error())
	case jsontext.Depth(v.JSON()) > maxNesting:
		return nil, aws.Errorf(code, "%s: 'Arrays and objects nest more than %d deep'", what, maxNesting)
	}
	return v, nil
}
