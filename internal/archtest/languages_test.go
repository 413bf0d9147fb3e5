package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// languageFree are folders that, with all folders below them, do not mention a single language. What they offer to one
// language, they offer to all.
var languageFree = map[string][]string{"engine": {"swf"}, "storage": {"swf"}}

// TestCoreKnowsNoLanguage finds the words of one language in the engine and the stores.
func TestCoreKnowsNoLanguage(t *testing.T) {
	t.Parallel()
	for folder, words := range languageFree {
		files := 0
		walk(t, folder, func(name string) {
			if path.Ext(name) != ".go" && path.Ext(name) != ".sql" {
				return
			}
			files++
			found := wordsOf(path.Base(name))
			if path.Ext(name) == ".go" {
				found = append(found, wordsOfCode(t, name)...)
			}
			for _, at := range found {
				if word, line, _ := strings.Cut(at, ":"); slices.Contains(words, word) {
					t.Errorf("%s:%s: %q belongs to a language: say it in general terms", name, line, word)
				}
			}
		})
		if files == 0 {
			t.Errorf("there is no code in %s", folder)
		}
	}
}
