package aws

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// TokenLife is how long a page token is valid.
//
//limit:protocol age of a page token (`aws.TokenLife`) | {} | refused
const TokenLife = 24 * time.Hour

var (
	// ErrToken is returned for a token that was not sealed with the same key for the same request, or has expired.
	ErrToken = errors.New("aws: the token is not valid")
	// ErrTokenExpired is returned for a token that was valid. It is an ErrToken.
	ErrTokenExpired = fmt.Errorf("%w: it has expired", ErrToken)
)

// Tokens seal and open page tokens. A token says where the next page of a list begins. It is bound to the request, so a
// client cannot read or change it, or use it for another list. Servers with the same key accept each other's tokens.
type Tokens struct{ seal cipher.AEAD }

// NewTokens returns tokens of a key, which must be secret and at least 16 random bytes.
func NewTokens(key []byte) (*Tokens, error) {
	const size = 32
	derived, err := hkdf.Key(sha256.New, key, nil, "ebb aws page token", size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Tokens{seal}, nil
}

// Seal returns the token for a place in a list. Bound is what the request must have again: by convention, the name of
// the operation, the caller's access key, and each argument except the token itself. The token has four characters for
// every three bytes of the place, and 50 more. It never begins with "-", so a command takes it as an argument.
func (t *Tokens) Seal(place []byte, bound ...string) string {
	return t.SealUntil(time.Now().Add(TokenLife), place, bound...)
}

// SealUntil is [Tokens.Seal] for a token that is valid until a time. Each token for the same place has another text.
func (t *Tokens) SealUntil(end time.Time, place []byte, bound ...string) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(end.Unix())) // the time is after 1970
	text = append(text, place...)
	for {
		sealed := t.seal.Seal(nil, nil, text, joined(bound)) //nolint:gosec // the AEAD draws the nonce itself
		if token := base64.RawURLEncoding.EncodeToString(sealed); token[0] != '-' {
			return token
		} // a token in 64 looks like an option to the AWS CLI; another nonce gives another text
	}
}

// Open returns the place in a token, or [ErrToken], or [ErrTokenExpired].
func (t *Tokens) Open(token string, bound ...string) (place []byte, err error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, ErrToken
	}
	text, err := t.seal.Open(nil, nil, sealed, joined(bound))
	const ends = 8 // bytes
	switch {
	case err != nil || len(text) < ends:
		return nil, ErrToken
	case time.Now().Unix() >= int64(binary.BigEndian.Uint64(text)): // it was sealed here
		return nil, ErrTokenExpired
	}
	return text[ends:], nil
}

// joined returns texts as one, from which they could be told apart again.
func joined(texts []string) []byte {
	var b []byte
	for _, text := range texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}
