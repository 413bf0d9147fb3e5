package console

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// The catalog of a language is a file in the folder texts, such as de.json: an object with each English text and what
// the language says instead. The file en.json lists the English texts. TestCatalog finds what is missing in a catalog.

//go:embed texts
var catalogs embed.FS

// A language says the fixed texts of a page.
type language struct {
	tag, dir string // of the page in HTML
	say      func(text) string
}

// english is the language of the program.
var english = &language{"en", "ltr", func(t text) string { return string(t) }}

// rightToLeft are the languages that are written from right to left.
var rightToLeft = map[string]bool{"ar": true, "dv": true, "fa": true, "he": true, "ps": true, "ur": true, "yi": true}

// readLanguages returns all languages by their tags. Two of them are for tests: they say all texts with accents and
// between brackets, so that a text is seen that is not in the catalog. One of them is written from right to left.
func readLanguages(catalogs fs.FS) (map[string]*language, error) {
	all := map[string]*language{
		"en": english, "en-XA": {"en-XA", "ltr", accented}, "ar-XB": {"ar-XB", "rtl", accented},
	}
	files, err := fs.Glob(catalogs, "texts/*.json")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		tag := strings.TrimSuffix(path.Base(file), ".json")
		if tag == english.tag {
			continue // it only lists the texts
		}
		data, err := fs.ReadFile(catalogs, file)
		if err != nil {
			return nil, err
		}
		texts := map[text]string{}
		if err := json.Unmarshal(data, &texts); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		l := &language{tag, "ltr", func(t text) string {
			if s := texts[t]; s != "" {
				return s
			}
			return string(t)
		}}
		if base, _, _ := strings.Cut(tag, "-"); rightToLeft[base] {
			l.dir = "rtl"
		}
		all[tag] = l
	}
	return all, nil
}

// languageFor returns the first language that a browser prefers and that there is, by its header Accept-Language.
func (c *console) languageFor(preferred string) *language {
	for choice := range strings.SplitSeq(preferred, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(choice), ";")
		base, _, _ := strings.Cut(tag, "-")
		if l := c.languages[tag]; l != nil {
			return l
		}
		if l := c.languages[base]; l != nil {
			return l
		}
	}
	return english
}

var accents = strings.NewReplacer("a", "á", "c", "ç", "e", "é", "g", "ğ", "i", "í", "k", "ķ", "n", "ñ", "o", "ó",
	"r", "ř", "s", "š", "t", "ť", "u", "ů", "y", "ý", "z", "ž", "A", "Á", "C", "Ç", "E", "É", "I", "Í", "N", "Ñ",
	"O", "Ó", "R", "Ř", "S", "Š", "T", "Ť", "U", "Ů")

// accented says a text so that it can be read, and told from a text that is written in the code.
func accented(t text) string { return "⟦" + accents.Replace(string(t)) + "⟧" }
