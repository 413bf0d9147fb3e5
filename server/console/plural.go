package console

import (
	"slices"
	"strings"
)

// A form is a plural form of a language, by the name that CLDR gives it: zero, one, two, few, many or other. The
// catalog of a language says a text with a number as an object with each form of the language, see [formsOf].
type form string

const (
	formZero  form = "zero"
	formOne   form = "one"
	formTwo   form = "two"
	formFew   form = "few"
	formMany  form = "many"
	formOther form = "other"
)

// A counted is a text with a number.
type counted struct {
	n          int
	one, other text
}

// sayCount says a text with a number, which stands at {0}. English has a text for 1, and one for all other numbers,
// which is the key of the catalog.
func sayCount(n int, one, other text) node { return counted{n, one, other} }

func (c counted) write(out *writer) { out.say(out.in.count(c.n, c.one, c.other), []node{number(c.n)}) }

// A pluralRule says which forms a language has, and which one a whole number has.
type pluralRule struct {
	forms []form
	of    func(n int) form
}

// oneOther is the rule of English, and of languages without a rule here.
var oneOther = pluralRule{[]form{formOne, formOther}, func(n int) form {
	if n == 1 {
		return formOne
	}
	return formOther
}}

// pluralRules are rules of CLDR for whole numbers, by languages.
var pluralRules = map[string]pluralRule{
	"id|ja|ko|lo|ms|my|th|vi|zh": {[]form{formOther}, func(int) form { return formOther }},
	"am|bn|fa|fr|hi|hy|pt|zu": {[]form{formOne, formOther}, func(n int) form {
		if n <= 1 {
			return formOne
		}
		return formOther
	}},
	"be|ru|uk": {[]form{formOne, formFew, formMany}, func(n int) form {
		switch {
		case n%10 == 1 && n%100 != 11:
			return formOne
		case isFew(n):
			return formFew
		}
		return formMany
	}},
	"bs|hr|sr": {[]form{formOne, formFew, formOther}, func(n int) form {
		switch {
		case n%10 == 1 && n%100 != 11:
			return formOne
		case isFew(n):
			return formFew
		}
		return formOther
	}},
	"pl": {[]form{formOne, formFew, formMany}, func(n int) form {
		switch {
		case n == 1:
			return formOne
		case isFew(n):
			return formFew
		}
		return formMany
	}},
	"cs|sk": {[]form{formOne, formFew, formOther}, func(n int) form {
		switch {
		case n == 1:
			return formOne
		case n >= 2 && n <= 4:
			return formFew
		}
		return formOther
	}},
	"he": {[]form{formOne, formTwo, formOther}, func(n int) form {
		switch n {
		case 1:
			return formOne
		case 2: //nolint:mnd // the dual
			return formTwo
		}
		return formOther
	}},
	"ar": {[]form{formZero, formOne, formTwo, formFew, formMany, formOther}, func(n int) form {
		switch {
		case n < 3: //nolint:mnd // each has a form
			return []form{formZero, formOne, formTwo}[max(n, 0)]
		case n%100 >= 3 && n%100 <= 10:
			return formFew
		case n%100 > 10: //nolint:mnd // to 99
			return formMany
		}
		return formOther
	}},
}

// isFew reports whether Slavic languages count so many in the form few.
func isFew(n int) bool { return n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14) }

// pluralOf returns the rule of a language.
func pluralOf(tag string) pluralRule {
	base, _, _ := strings.Cut(tag, "-")
	for languages, rule := range pluralRules {
		if slices.Contains(strings.Split(languages, "|"), base) {
			return rule
		}
	}
	return oneOther
}
