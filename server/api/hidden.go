package api

import "strings"

// hidden replaces a token.
const hidden = "TOKEN"

// hideTokens hides the tokens wherever the diagnosis has them.
func (w *Why) hideTokens() {
	var tokens []string
	for i := range w.Waits {
		if wait := &w.Waits[i]; wait.Token != "" {
			tokens = append(tokens, wait.Token, hidden)
			wait.Token = hidden
		}
	}
	for i := range w.Wakes {
		if wake := &w.Wakes[i]; wake.Token != "" {
			tokens = append(tokens, wake.Token, hidden)
			wake.Token = hidden
		}
	}
	hide := strings.NewReplacer(tokens...)
	for i := range w.Wakes {
		w.Wakes[i].Command = hide.Replace(w.Wakes[i].Command)
	}
	for i := range w.Sentences {
		w.Sentences[i] = hide.Replace(w.Sentences[i])
	}
}
