package backend

import (
	"fmt"
	"unicode/utf8"

	"github.com/ebbflow/ebb/storage"
)

// CheckTokenEnd returns an error that wraps ErrInvalid and names the problem if no token can end like this.
func CheckTokenEnd(e *storage.TokenEnd) error {
	if f := e.Failure; f != nil {
		if !utf8.ValidString(f.Code) || !utf8.ValidString(f.Message) {
			return fmt.Errorf("%w: the failure %.40q is not UTF-8", storage.ErrInvalid, f.Code)
		}
		return checkValue("details of the failure", f.Details)
	}
	return checkValue("result of the token", e.Result)
}

// A TokenUse is a change of an open token that a caller asks for, as part of a checkpoint.
type TokenUse struct {
	Token storage.Token // the new state of the token
	Was   int64         // the token's Take before; if it is another one by now, the checkpoint is not written
}

// Anonymous is stored as the name of a worker without a name.
const Anonymous = "?"
