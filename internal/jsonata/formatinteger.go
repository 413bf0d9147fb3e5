package jsonata

import (
	"math"
	"slices"
	"strings"
)

// $formatInteger and $parseInteger write whole numbers in the format of a picture (XPath and XQuery Functions 3.1,
// format-integer): digits of any script, letters, Roman numerals or words.

type integerStyle uint8

const (
	decimalStyle integerStyle = iota
	letterStyle
	romanStyle
	wordStyle
	sequenceStyle // ①, α and so on: not supported
)

type letterCase uint8

const (
	lowerCase letterCase = iota
	upperCaseLetters
	titleCase
)

// An integerPicture is a parsed picture of a whole number.
type integerPicture struct {
	style      integerStyle
	letters    letterCase
	ordinal    bool
	zero       rune // the digit zero of the script
	mandatory  int  // mandatory digits
	optional   int
	separators []separator
	regular    int // digits between separators; 0: not regular
	text       string
	width      int // digits to parse; 0 or less for any number
}

type separator struct {
	position  int // digits to its right
	character string
}

// decimalZeros are the zeros of the scripts that have digits of their own.
var decimalZeros = []rune{
	0x30, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50,
	0x0ED0, 0x0F20, 0x1040, 0x1090,
	0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0,
	0xA9F0, 0xAA50, 0xABF0, 0xFF10,
}

func zeroOf(c rune) (rune, bool) {
	for _, zero := range decimalZeros {
		if zero <= c && c <= zero+9 {
			return zero, true
		}
	}
	return 0, false
}

func parseIntegerPicture(picture string) (*integerPicture, error) {
	p := &integerPicture{text: picture, zero: '0'}
	if at := strings.LastIndexByte(picture, ';'); at >= 0 {
		p.text = picture[:at]
		p.ordinal = strings.HasPrefix(picture[at+1:], "o")
	}
	switch p.text {
	case "A", "a":
		p.style = letterStyle
	case "I", "i":
		p.style = romanStyle
	case "W", "w", "Ww":
		p.style = wordStyle
	default:
		return p, p.digits()
	}
	switch p.text {
	case "A", "I", "W":
		p.letters = upperCaseLetters
	case "Ww":
		p.letters = titleCase
	}
	return p, nil
}

// digits reads a picture of digits, from right to left.
func (p *integerPicture) digits() error {
	position := 0
	zero := rune(0)
	for _, c := range slices.Backward([]rune(p.text)) {
		if of, ok := zeroOf(c); ok {
			if zero != 0 && of != zero {
				return &fault{code: "D3131"}
			}
			zero = of
			p.mandatory++
			position++
		} else if c == '#' {
			p.optional++
			position++
		} else {
			p.separators = append(p.separators, separator{position, string(c)})
		}
	}
	if p.mandatory == 0 {
		p.style = sequenceStyle
		return nil
	}
	p.zero = zero
	var positions []int
	for _, s := range p.separators {
		if s.character != p.separators[0].character {
			return nil
		}
		positions = append(positions, s.position)
	}
	p.regular = regularly(positions)
	return nil
}

func formatInteger(r *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	picture, _ := argument[string](args, 1)
	r.work(len(picture))
	p, err := parseIntegerPicture(picture)
	if err != nil {
		return nil, err
	}
	return p.format(r, math.Floor(n))
}

// format writes a whole number.
func (p *integerPicture) format(r *run, n float64) (string, error) {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return "", &fault{code: "D1001", value: n}
	}
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	var text string
	switch p.style {
	case letterStyle:
		text = letters(n)
	case romanStyle:
		if !r.make(int(min(n/1000, MaxSize+1)) + 16) {
			return "", r.broken
		}
		text = roman(n)
	case wordStyle:
		text = words(n, false, p.ordinal)
	case decimalStyle:
		text = p.decimal(n)
	default:
		return "", &fault{code: "D3130", value: p.text}
	}
	switch {
	case p.style == decimalStyle:
	case p.letters == upperCaseLetters:
		text = strings.ToUpper(text)
	case p.letters == lowerCase:
		text = strings.ToLower(text)
	}
	return sign + text, nil
}

func (p *integerPicture) decimal(n float64) string {
	digits := numberText(n)
	digits = strings.Repeat("0", max(0, p.mandatory-len(digits))) + digits
	ordinal := ""
	if p.ordinal {
		ordinal = ordinalSuffix(digits)
	}
	var out []string
	for _, c := range digits {
		if '0' <= c && c <= '9' {
			c += p.zero - '0'
		}
		out = append(out, string(c))
	}
	length := len(out)
	separators := p.separators
	if p.regular > 0 {
		character := separators[0].character
		separators = nil
		for at := p.regular; at < length; at += p.regular {
			separators = append(separators, separator{at, character})
		}
	}
	for _, s := range slices.Backward(separators) {
		at := len(out) - s.position
		if at < 0 { // fewer digits than the picture has: follows the reference implementation
			out, at = out[max(0, len(out)+at):], 0
		}
		out = slices.Insert(out, at, s.character)
	}
	return strings.Join(out, "") + ordinal
}

func ordinalSuffix(digits string) string {
	if len(digits) < 2 || digits[len(digits)-2] != '1' {
		switch digits[len(digits)-1] {
		case '1':
			return "st"
		case '2':
			return "nd"
		case '3':
			return "rd"
		}
	}
	return "th"
}

// letters counts in letters: a, b, … z, aa, ab and so on.
func letters(n float64) string {
	var out []byte
	for n > 0 {
		out = append(out, byte('a'+int(math.Mod(n-1, 26))))
		n = math.Floor((n - 1) / 26)
	}
	slices.Reverse(out)
	return string(out)
}

var romanNumerals = []struct {
	value   float64
	numeral string
}{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {
		9, "ix",
	}, {5, "v"}, {4, "iv"}, {1, "i"},
}

func roman(n float64) string {
	var b strings.Builder
	for _, r := range romanNumerals {
		times := math.Floor(n / r.value)
		b.WriteString(strings.Repeat(r.numeral, int(times)))
		n -= times * r.value
	}
	return b.String()
}

var (
	few = []string{
		"Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten",
		"Eleven", "Twelve", "Thirteen", "Fourteen", "Fifteen", "Sixteen", "Seventeen", "Eighteen", "Nineteen",
	}
	ordinals = []string{
		"Zeroth", "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth",
		"Eleventh", "Twelfth", "Thirteenth", "Fourteenth", "Fifteenth", "Sixteenth", "Seventeenth", "Eighteenth",
		"Nineteenth",
	}
	decades    = []string{"Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"}
	magnitudes = []string{"Thousand", "Million", "Billion", "Trillion"}
)

// words writes a number in English. If behind is set, it joins the number to a larger part before it.
func words(n float64, behind, ordinal bool) string {
	switch {
	case n <= 19:
		text := few[int(n)]
		if ordinal {
			text = ordinals[int(n)]
		}
		return joint(behind, " and ") + text
	case n < 100:
		text := joint(behind, " and ") + decades[int(n/10)-2]
		if rest := math.Mod(n, 10); rest > 0 {
			return text + "-" + words(rest, false, ordinal)
		}
		if ordinal {
			return strings.TrimSuffix(text, "y") + "ieth"
		}
		return text
	case n < 1000:
		return joint(behind, ", ") + few[int(n/100)] + " Hundred" + remainder(math.Mod(n, 100), ordinal)
	}
	magnitude, factor := 1, 1000.0
	for magnitude < len(magnitudes) && n >= 1000*factor {
		magnitude++
		factor *= 1000
	}
	times := math.Floor(n / factor)
	return joint(behind, ", ") + words(times, false, false) + " " + magnitudes[magnitude-1] + remainder(n-times*factor,
		ordinal)
}

func joint(behind bool, text string) string {
	if behind {
		return text
	}
	return ""
}

func remainder(rest float64, ordinal bool) string {
	switch {
	case rest > 0:
		return words(rest, true, ordinal)
	case ordinal:
		return "th"
	}
	return ""
}
