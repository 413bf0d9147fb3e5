package jsonata

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

func parseInteger(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	picture, _ := argument[string](args, 1)
	r.work(len(picture) + len(text))
	p, err := parseIntegerPicture(picture)
	if err != nil {
		return nil, err
	}
	if p.style == sequenceStyle {
		return nil, &fault{code: "D3130", value: p.text}
	}
	return p.parse(text), nil
}

// parse reads a number. It returns NaN for any other text.
func (p *integerPicture) parse(text string) float64 {
	switch p.style { //nolint:exhaustive // the other kinds are written in digits
	case letterStyle:
		return parseLetters(text, p.letters == upperCaseLetters)
	case romanStyle:
		return parseRoman(strings.ToLower(text))
	case wordStyle:
		return parseWords(strings.ToLower(text))
	}
	if p.ordinal {
		text = text[:max(0, len(text)-2)]
	}
	if p.regular > 0 { // ignores other characters of the picture
		text = strings.ReplaceAll(text, ",", "")
	} else {
		for _, s := range p.separators {
			text = strings.ReplaceAll(text, s.character, "")
		}
	}
	text = strings.Map(func(c rune) rune {
		if p.zero <= c && c <= p.zero+9 {
			return c - p.zero + '0'
		}
		return c
	}, text)
	return leadingInteger(text)
}

// leadingInteger reads the whole number at the start of a text.
func leadingInteger(text string) float64 {
	text = strings.TrimLeft(text, " \t\n\r\v\f\u00a0\ufeff")
	end := 0
	if text != "" && (text[0] == '-' || text[0] == '+') {
		end = 1
	}
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil && !math.IsInf(n, 0) {
		return math.NaN()
	}
	return n
}

func parseLetters(text string, upper bool) float64 {
	first := 'a'
	if upper {
		first = 'A'
	}
	n := 0.0
	for _, c := range text {
		n = n*26 + float64(c-first+1)
	}
	return n
}

func parseRoman(text string) float64 {
	n, largest := 0.0, 1.0
	for len(text) > 0 {
		c, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
		value := map[rune]float64{'m': 1000, 'd': 500, 'c': 100, 'l': 50, 'x': 10, 'v': 5, 'i': 1}[c]
		switch {
		case value == 0:
			return math.NaN()
		case value < largest:
			n -= value
		default:
			largest = value
			n += value
		}
	}
	return n
}

// wordValues are the values of single number words.
var wordValues = func() map[string]float64 {
	values := map[string]float64{"hundred": 100, "hundredth": 100}
	for i := range few {
		values[strings.ToLower(few[i])] = float64(i)
		values[strings.ToLower(ordinals[i])] = float64(i)
	}
	for i, word := range decades {
		values[strings.ToLower(word)] = float64(10 * (i + 2))
		values[strings.ToLower(strings.TrimSuffix(word, "y"))+"ieth"] = float64(10 * (i + 2))
	}
	for i, word := range magnitudes {
		value := math.Pow(10, float64(3*(i+1)))
		values[strings.ToLower(word)] = value
		values[strings.ToLower(word)+"th"] = value
	}
	return values
}()

func parseWords(text string) float64 {
	if text == "" {
		return math.NaN()
	}
	text = strings.NewReplacer(", ", " ", ",\t", " ", ",\n", " ", " and ", " ", "-", " ", `\`, " ").Replace(text)
	segments := []float64{0}
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' || c == '\n' }) {
		value, ok := wordValues[word]
		last := len(segments) - 1
		switch {
		case !ok:
			return math.NaN()
		case value >= 100:
			segments[last] *= value
		case segments[last] >= 1000:
			segments = append(segments, value)
		default:
			segments[last] += value
		}
	}
	sum := 0.0
	for _, s := range segments {
		sum += s
	}
	return sum
}
