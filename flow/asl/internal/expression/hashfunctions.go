package expression

import (
	"crypto/md5"  //nolint:gosec // the language has it
	"crypto/sha1" //nolint:gosec // the language has it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
)

// short returns an error for a text that is too long to be encoded or hashed.
func short(s string) error {
	if len([]rune(s)) > maxEncoded {
		return fmt.Errorf("argument 1 has more than %d characters", maxEncoded)
	}
	return nil
}

func base64Encode(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err == nil {
		err = short(s)
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), nil
}

func base64Decode(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err == nil {
		err = short(s)
	}
	if err != nil {
		return nil, err
	}
	out, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("argument 1 is not Base64")
	}
	return strings.ToValidUTF8(string(out), "\ufffd"), nil
}

// hashes contains the hash algorithms of the language.
var hashes = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

func hashed(args []any, _ func() uint64) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		d := data.Tree(args[0])
		if d.TooLarge() {
			return nil, errTooLarge
		}
		s = d.Encoded().String()
	}
	if err := short(s); err != nil {
		return nil, err
	}
	name, err := text(args, 1)
	if err != nil {
		return nil, err
	}
	algorithm, ok := hashes[name]
	if !ok {
		return nil, errors.New("argument 2 must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512")
	}
	h := algorithm()
	_, _ = h.Write([]byte(s)) // writing to a hash cannot fail
	return hex.EncodeToString(h.Sum(nil)), nil
}
