// Package tasktoken makes the tokens with which another party ends an atom, and finds them in texts.
package tasktoken

import (
	"bytes"
	"crypto/rand"
)

// New returns a token of 130 random bits, which no party can guess.
func New() string { return rand.Text() }

// hidden replaces a token.
const hidden = "TOKEN"

const (
	size     = 26 // characters of a token, see [rand.Text]
	leastCut = 8  // characters of the beginning of a token, before an ellipsis, that are hidden, too
	variety  = 8  // different characters that a token has at least: a random one has fewer once in 10^10
)

// Hide returns the text with each token in it replaced by the word TOKEN. Flows pass tokens on in inputs, and parties
// return them in results and errors, so tokens are found by what they look like. Hide does not change the argument.
func Hide(text []byte) []byte {
	var out []byte // nil until a token is found
	kept := 0      // text before this index is in out
	for i := 0; i < len(text); {
		if !isPart(text[i]) {
			i++
			continue
		}
		begin := i
		for i < len(text) && isPart(text[i]) {
			i++
		}
		least := size
		if bytes.HasPrefix(text[i:], []byte("…")) {
			least = leastCut
		}
		if i-begin >= least && isVaried(text[begin:i]) {
			out = append(append(out, text[kept:begin]...), hidden...)
			kept = i
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[kept:]...)
}

// isPart reports whether a character may be in a token.
func isPart(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '2' && c <= '7' }

// isVaried reports whether a text is as varied as a random one of its length. Other data, such as zeros in Base64, is
// not.
func isVaried(text []byte) bool {
	var seen [128]bool
	different := 0
	for _, c := range text[:min(len(text), size)] {
		if !seen[c] {
			seen[c] = true
			different++
		}
	}
	return different >= min(variety, len(text)/2)
}
