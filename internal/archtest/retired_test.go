package archtest

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retired are metaphors that Ebb's terms have replaced. No identifier, file name, comment or page uses them.
var retired = strings.Fields(`letter letterbox bell ring rung buried undertaker postman crew nursery foster room journey escort crowd
	wish doom doomed fate shelf turnstile keeper entrust surrender obey letgo suspect suspicion acquit accuse accused`)

// allowedWords are uses of such words that are no metaphor, by folder.
var allowedWords = map[string][]string{
	"flow/asl/internal/check": {"letter"}, // of the alphabet: names of variables
	"internal/archtest":       retired,
	"internal/ecmaregexp":     {"letter"},
	"internal/jsonata":        {"letter"},
	"internal/jsonpath":       {"letter"},
	"docs/reference":          {"letter", "keeper"}, // of the alphabet; ZooKeeper
}

// retiredPhrases are such metaphors of two words.
var retiredPhrases = regexp.MustCompile(`(?i)\blet(s|ting)? go of\b`)

var wordsIn = regexp.MustCompile(`[A-Za-z]+`)

// TestRetiredWords finds the words that DESIGN retires.
func TestRetiredWords(t *testing.T) {
	t.Parallel()
	walk(t, ".", func(name string) {
		found := wordsOf(strings.TrimSuffix(path.Base(name), path.Ext(name)))
		switch path.Ext(name) {
		case ".go":
			found = append(found, wordsOfCode(t, name)...)
		case ".md":
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if phrase := retiredPhrases.FindString(line); phrase != "" {
					t.Errorf("%s:%d: %q is retired: see the terms in docs/reference/terms.md", name, i+1, phrase)
				}
				for _, word := range wordsOf(line) {
					found = append(found, fmt.Sprintf("%s:%d", word, i+1))
				}
			}
		default:
			return
		}
		for _, at := range found {
			word, line, _ := strings.Cut(at, ":")
			word = strings.TrimSuffix(word, "s")
			if slices.Contains(retired, word) && !slices.Contains(allowedWords[path.Dir(name)], word) {
				t.Errorf("%s:%s: %q is retired: see the terms in docs/reference/terms.md", name, line, word)
			}
		}
	})
}

// wordsOfCode returns the words of the identifiers and comments of a file, each with its line.
func wordsOfCode(t *testing.T, name string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile(name, -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		switch kind {
		case token.EOF:
			return found
		case token.IDENT, token.COMMENT:
			if phrase := retiredPhrases.FindString(literal); phrase != "" {
				t.Errorf("%s:%d: %q is retired: see the terms in docs/reference/terms.md", name, file.Line(pos), phrase)
			}
			for _, word := range wordsOf(literal) {
				found = append(found, fmt.Sprintf("%s:%d", word, file.Line(pos)))
			}
		default:
		}
	}
}

// wordsOf splits a text into words in lower case. It also splits at changes of case.
func wordsOf(text string) (words []string) {
	for _, run := range wordsIn.FindAllString(text, -1) {
		begin := 0
		for i := 1; i < len(run); i++ {
			next := i+1 < len(run) && unicode.IsLower(rune(run[i+1]))
			if unicode.IsUpper(rune(run[i])) && (unicode.IsLower(rune(run[i-1])) || next) {
				words = append(words, strings.ToLower(run[begin:i]))
				begin = i
			}
		}
		words = append(words, strings.ToLower(run[begin:]))
	}
	return words
}
