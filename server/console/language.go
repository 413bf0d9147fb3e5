package console

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// The catalog of a language is a file in the folder texts, such as de.json: an object with each English text and what
// the language says instead. Of a text with a number, the latter is an object, too, with each plural form, see
// plural.go.
// The file en.json lists the English texts. TestCatalog finds what is missing in a catalog.

//go:embed texts
var catalogs embed.FS

// A language says the fixed texts of a page.
type language struct {
	tag, dir string // of the page in HTML
	say      func(text) string
	count    func(n int, one, other text) string // says a text with a number, see [sayCount]
}

// english is the language of the program.
var english = &language{"en", "ltr", func(t text) string { return string(t) }, inEnglishCount}

// inEnglishCount says a text with a number.
func inEnglishCount(n int, one, other text) string {
	if n == 1 {
		return string(one)
	}
	return string(other)
}

// accentedCount says a text with a number as [accented] says others.
func accentedCount(n int, one, other text) string {
	if n == 1 {
		return accented(one)
	}
	return accented(other)
}

// A saying is what a language says of a text: in one form, or in each plural form.
type saying map[form]string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *saying) UnmarshalJSON(data []byte) error {
	forms := map[form]string{}
	var whole string
	err := json.Unmarshal(data, &whole)
	if err != nil {
		err = json.Unmarshal(data, &forms)
	} else {
		forms[formOther] = whole
	}
	*s = forms
	return err
}

// rightToLeft are the languages that are written from right to left.
var rightToLeft = map[string]bool{"ar": true, "dv": true, "fa": true, "he": true, "ps": true, "ur": true, "yi": true}

// readLanguages returns all languages by their tags. Two of them are for tests: they say all texts with accents and
// between brackets, so that a text is seen that is not in the catalog. One of them is written from right to left.
func readLanguages(catalogs fs.FS) (map[string]*language, error) {
	all := map[string]*language{
		"en": english, "en-XA": {"en-XA", "ltr", accented, accentedCount}, "ar-XB": {"ar-XB", "rtl", accented, accentedCount},
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
		texts := map[text]saying{}
		if err := json.Unmarshal(data, &texts); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		rule := pluralOf(tag)
		l := &language{tag, "ltr", func(t text) string {
			return cmp.Or(texts[t][formOther], string(t))
		}, func(n int, one, many text) string {
			return cmp.Or(texts[many][rule.of(n)], texts[many][formOther], inEnglishCount(n, one, many))
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
