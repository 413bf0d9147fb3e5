package sfn

import (
	"strings"
	"unicode"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
)

// forbidden are the visible characters that names do not have.
const forbidden = "<>{}[]?*\"#%\\^|~`$&,;:/"

// validName reports whether a machine, an activity or an execution may have a name. Characters of any alphabet are
// legal, as far as a name of a flow and the id of a run may have them.
//
//limit:sfn name of a machine, an activity or an execution | 256 bytes of visible characters | `InvalidName`
func validName(name string) bool {
	return backend.CheckID("name", name) == nil && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(forbidden, r)
	})
}

func checkName(name string) error {
	if !validName(name) {
		return aws.Errorf("InvalidName", "Invalid Name: '%s'", name)
	}
	return nil
}
