package inspect

// hiddenToken replaces a token.
const hiddenToken = "TOKEN"

// HideTokens hides the tokens that the run waits for. A caller that has a token may end its atom, so a caller that may
// only read gets none.
func (w *Diagnosis) HideTokens() {
	for path, token := range w.Tokens {
		hidden := *token
		hidden.ID = hiddenToken
		w.Tokens[path] = &hidden
	}
}
