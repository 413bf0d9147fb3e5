package sfn

import (
	"fmt"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/server/aws"
)

// maxNesting is how deep arrays and objects may nest in data.
const maxNesting = 500

// parseData returns a text that holds JSON as a value, or an error with the code. What says which text it is.
func parseData(code, what, text string) (atom.Value, error) {
	v := atom.FromJSON([]byte(text))
	why := asl.SyntaxMessage(text)
	if !utf8.ValidString(text) {
		why = "The text is not valid UTF-8"
	}
	if why == "" && jsontext.Depth(v.JSON()) > maxNesting {
		why = fmt.Sprintf("Arrays and objects nest more than %d deep", maxNesting)
	}
	if why != "" {
		return nil, aws.Errorf(code, "%s: '%s'", what, why)
	}
	return v, nil
}
