package inspect

// hiddenToken stands for a token.
const hiddenToken = "TOKEN"

// HideTokens hides the tokens that the run waits for: a token ends its atom for everyone who has it, so those who may
// only read get none.
func (w *Diagnosis) HideTokens() {
	for path, token := range w.Tokens {
		hidden := *token
		hidden.ID = hiddenToken
		w.Tokens[path] = &hidden
	}
}
