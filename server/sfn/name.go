package sfn

import (
	"strings"
	"unicode"

	"github.com/ebbflow/ebb/server/aws"
)

// forbidden are the visible characters that names do not have.
const forbidden = "<>{}[]?*\"#%\\^|~`$&,;:/"

// validName reports whether a machine, an activity or an execution may have a name. Characters of any alphabet are
// legal.
func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar ||
			strings.ContainsRune(forbidden, r)
	})
}

func checkName(name string) error {
	if !validName(name) {
		return aws.Errorf("InvalidName", "Invalid Name: '%s'", name)
	}
	return nil
}
