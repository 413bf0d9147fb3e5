package nodepath

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// maxRunID is the maximum length of the id of a run in bytes, see backend.MaxID.
const maxRunID = 256

// RunID returns the id of a run that is made from other names, such as those of its parent and of its node. It returns
// an id that fits as it is. It replaces the end of a longer one by a hash of the whole.
func RunID(id string) string {
	if len(id) <= maxRunID {
		return id
	}
	hash := sha256.Sum256([]byte(id))
	sum := "~" + base64.RawURLEncoding.EncodeToString(hash[:])
	return strings.ToValidUTF8(id[:maxRunID-len(sum)], "") + sum
}
