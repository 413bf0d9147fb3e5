package jsonata

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// $formatNumber formats a number by a picture, such as #,##0.00 (XPath and XQuery Functions 3.1, format-number). Where
// the reference implementation departs from that text, Ebb follows the implementation.

// A numberStyle holds the characters of pictures and results.
type numberStyle struct {
	decimal, grouping, exponent, minus, percent, perMille, digit, pattern string
	digits                                                                []string // 0 to 9
}

func numberStyleOf(options *object) *numberStyle {
	s := &numberStyle{
		decimal: ".", grouping: ",", exponent: "e", minus: "-", percent: "%", perMille: "‰", digit: "#",
		pattern: ";",
	}
	zero := "0"
	if options != nil {
		for name, to := range map[string]*string{
			"decimal-separator": &s.decimal, "grouping-separator": &s.grouping, "exponent-separator": &s.exponent,
			"minus-sign": &s.minus,
			"percent":    &s.percent, "per-mille": &s.perMille, "digit": &s.digit, "pattern-separator": &s.pattern,
			"zero-digit": &zero,
		} {
			if text, ok := options.get(name).(string); ok {
				*to = text
			}
		}
	}
	if first, _ := utf8.DecodeRuneInString(zero); first != utf8.RuneError {
		for i := range rune(10) {
			s.digits = append(s.digits, string(first+i))
		}
	}
	return s
}

func (s *numberStyle) isDigit(c string) bool { return slices.Contains(s.digits, c) }

func (s *numberStyle) isActive(c string) bool {
	return s.isDigit(c) || c == s.decimal || c == s.exponent || c == s.grouping || c == s.digit || c == s.pattern
}

// countDigits counts the characters of a part that stand for mandatory digits, and those for optional ones.
func (s *numberStyle) countDigits(part []string) (must, may int) {
	for _, c := range part {
		switch {
		case s.isDigit(c):
			must++
		case c == s.digit:
			may++
		}
	}
	return must, may
}

// A subPicture is one of the two parts of a picture, for negative or for other numbers.
type subPicture struct {
	text, prefix, suffix, active, mantissa, integer, fraction, exponent []string
	hasExponent                                                         bool

	scaling        int // digits before the point of a mantissa
	leastInteger   int
	leastFraction  int
	mostFraction   int
	leastExponent  int
	regular        int   // digits between separators; 0: not regular
	integerGroups  []int // from the point to the left
	fractionGroups []int // from the point to the right
}

// whole returns the text of the sub-picture, and has reports whether it contains a symbol, of any number of characters.
func (p *subPicture) whole() string { return strings.Join(p.text, "") }

func (p *subPicture) has(symbol string) bool { return strings.Contains(p.whole(), symbol) }

func characters(text string) []string { return strings.Split(text, "") }

func formatNumber(r *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	picture, _ := argument[string](args, 1)
	options, _ := argument[*object](args, 2)
	s := numberStyleOf(options)
	r.work(len(picture))
	texts := strings.Split(picture, s.pattern)
	if len(texts) > 2 || s.pattern == "" || len(s.digits) == 0 {
		return nil, &fault{code: "D3080"}
	}
	var pictures []*subPicture
	for _, text := range texts {
		p := s.cut(characters(text))
		if code := s.check(p); code != "" {
			return nil, &fault{code: code}
		}
		s.analyze(p)
		pictures = append(pictures, p)
	}
	p := pictures[0]
	if !(n >= 0) {
		if p = pictures[len(pictures)-1]; len(pictures) == 1 {
			p.prefix = append([]string{s.minus}, p.prefix...)
		}
	}
	if p.mostFraction > maxFraction {
		return nil, &fault{message: fmt.Sprintf("a picture has at most %d digits behind the decimal separator", maxFraction)}
	}
	return s.format(n, p), nil
}

const maxFraction = 100

// cut finds the parts of a sub-picture.
func (s *numberStyle) cut(text []string) *subPicture {
	p := &subPicture{text: text}
	first := max(0, slices.IndexFunc(text, func(c string) bool { return s.isActive(c) && c != s.exponent }))
	last := len(text)
	for i, c := range slices.Backward(text) {
		if s.isActive(c) && c != s.exponent {
			last = i + 1
			break
		}
	}
	p.prefix, p.active, p.suffix = text[:first], text[first:last], text[last:]
	p.mantissa = p.active
	if at := slices.Index(text[first:], s.exponent); at >= 0 && first+at <= last {
		at += first
		p.mantissa, p.hasExponent = p.active[:min(at, len(p.active))], true
		p.exponent = p.active[min(at+1, len(p.active)):]
	}
	if at := slices.Index(p.mantissa, s.decimal); at >= 0 {
		p.integer, p.fraction = p.mantissa[:at], p.mantissa[at+1:]
	} else {
		p.integer, p.fraction = p.mantissa, p.suffix
	}
	return p
}

// check returns the code of the last rule that a sub-picture breaks.
func (s *numberStyle) check(p *subPicture) (code string) {
	several := func(symbol string) bool {
		return strings.Index(p.whole(), symbol) != strings.LastIndex(p.whole(), symbol)
	}
	at := func(list []string, i int) string {
		if i < 0 || i >= len(list) {
			return ""
		}
		return list[i]
	}
	isDigit := s.isDigit
	percent, perMille := p.has(s.percent), p.has(s.perMille)
	point := slices.Index(p.text, s.decimal)
	firstOptional := slices.Index(p.integer, s.digit)
	lastOptional := -1
	for i, c := range p.fraction {
		if c == s.digit {
			lastOptional = i
		}
	}
	for _, rule := range []struct {
		broken bool
		code   string
	}{
		{several(s.decimal), "D3081"},
		{several(s.percent), "D3082"},
		{several(s.perMille), "D3083"},
		{percent && perMille, "D3084"},
		{!slices.ContainsFunc(p.mantissa, func(c string) bool { return isDigit(c) || c == s.digit }), "D3085"},
		{slices.ContainsFunc(p.active, func(c string) bool { return !s.isActive(c) }), "D3086"},
		{point >= 0 && (at(p.text, point-1) == s.grouping || at(p.text, point+1) == s.grouping), "D3087"},
		{point < 0 && at(p.integer, len(p.integer)-1) == s.grouping, "D3088"},
		{strings.Contains(strings.Join(p.text, ""), s.grouping+s.grouping), "D3089"},
		{firstOptional >= 0 && slices.ContainsFunc(p.integer[:max(0, firstOptional)], isDigit), "D3090"},
		{lastOptional >= 0 && slices.ContainsFunc(p.fraction[max(0, lastOptional):], isDigit), "D3091"},
		{p.hasExponent && len(p.exponent) > 0 && (percent || perMille), "D3092"},
		{p.hasExponent && (len(p.exponent) == 0 || slices.ContainsFunc(p.exponent, func(c string) bool {
			return !isDigit(c)
		})), "D3093"},
	} {
		if rule.broken {
			code = rule.code
		}
	}
	return code
}

// analyze finds how many digits the result has, and how they are grouped.
func (s *numberStyle) analyze(p *subPicture) {
	p.integerGroups = s.groups(p.integer, p.integer, false)
	p.fractionGroups = s.groups(p.fraction, p.integer, true)
	p.regular = regularly(p.integerGroups)
	p.leastInteger, _ = s.countDigits(p.integer)
	p.scaling = p.leastInteger
	must, may := s.countDigits(p.fraction)
	p.leastFraction, p.mostFraction = must, must+may
	switch {
	case p.leastInteger > 0 || p.mostFraction > 0:
	case p.hasExponent:
		p.leastFraction, p.mostFraction = 1, 1
	default:
		p.leastInteger = 1
	}
	if p.hasExponent && p.leastInteger == 0 && slices.Contains(p.integer, s.digit) {
		p.leastInteger = 1
	}
	if p.leastInteger == 0 && p.leastFraction == 0 {
		p.leastFraction = 1
	}
	p.leastExponent, _ = s.countDigits(p.exponent)
}

// groups returns how many digits stand to the right, or left, of each separator. Like the reference implementation, and
// unlike the standard, it looks for the second and later ones in another part.
func (s *numberStyle) groups(part, other []string, left bool) []int {
	var positions []int
	for at := slices.Index(part, s.grouping); at >= 0; {
		side := part[min(at, len(part)):]
		if left {
			side = part[:min(at, len(part))]
		}
		must, may := s.countDigits(side)
		positions = append(positions, must+may)
		next := slices.Index(other[min(at+1, len(other)):], s.grouping)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return positions
}

// regularly returns the constant distance between positions, or 0 if it varies.
func regularly(positions []int) int {
	if len(positions) == 0 {
		return 0
	}
	factor := positions[0]
	for _, p := range positions[1:] {
		for b := p; b != 0; {
			factor, b = b, factor%b
		}
	}
	for i := range positions {
		if !slices.Contains(positions, (i+1)*factor) {
			return 0
		}
	}
	return factor
}

func (s *numberStyle) format(n float64, p *subPicture) string {
	switch {
	case p.has(s.percent):
		n *= 100
	case p.has(s.perMille):
		n *= 1000
	}
	exponent := 0
	if p.leastExponent > 0 {
		n, exponent = scaled(math.Abs(n), p.scaling)
	}
	integer, fraction, _ := strings.Cut(fixed(round(n, p.mostFraction), p.mostFraction), ".")
	integer, fraction = strings.TrimLeft(integer, "0"), strings.TrimRight(fraction, "0")
	fraction += strings.Repeat("0", max(0, p.leastFraction-len(fraction)))
	text := append(s.spelled(integer, p.leastInteger), s.decimal)
	point := len(text) - 1
	text = s.grouped(append(text, s.spelled(fraction, 0)...), point, p)
	point = slices.Index(text, s.decimal)
	for _, at := range p.fractionGroups {
		text = slices.Insert(text, min(at+point+1, len(text)), s.grouping)
	}
	if point == len(text)-1 || !slices.Contains(p.text, s.decimal) {
		text = text[:len(text)-1]
	}
	var b strings.Builder
	b.WriteString(strings.Join(p.prefix, "") + strings.Join(text, ""))
	if p.leastExponent > 0 {
		b.WriteString(s.exponent)
		if exponent < 0 {
			b.WriteString(s.minus)
		}
		b.WriteString(strings.Join(s.spelled(strconv.Itoa(max(exponent, -exponent)), p.leastExponent), ""))
	}
	b.WriteString(strings.Join(p.suffix, ""))
	return b.String()
}

// scaled returns a number as a mantissa with the given number of digits before the point, and an exponent of ten.
func scaled(n float64, digits int) (mantissa float64, exponent int) {
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return n, 0
	}
	most, least := math.Pow(10, float64(digits)), math.Pow(10, float64(digits-1))
	for ; n < least; exponent-- {
		n *= 10
	}
	for ; n > most; exponent++ {
		n /= 10
	}
	return n, exponent
}

func fixed(n float64, places int) string {
	if n = math.Abs(n); n >= 1e21 || math.IsNaN(n) {
		return numberText(n)
	}
	return strconv.FormatFloat(n, 'f', places, 64)
}

// spelled returns the digits of a text in the digits of the style, padded to the given length.
func (s *numberStyle) spelled(text string, least int) []string {
	var out []string
	for range least - len(text) {
		out = append(out, s.digits[0])
	}
	for _, c := range text {
		if '0' <= c && c <= '9' {
			out = append(out, s.digits[c-'0'])
		} else {
			out = append(out, string(c))
		}
	}
	return out
}

// grouped puts separators between the digits before the point. If a number has fewer digits than a position, the
// position counts from the end.
func (s *numberStyle) grouped(text []string, point int, p *subPicture) []string {
	if p.regular > 0 {
		for at := point - p.regular; at > 0; at -= p.regular {
			text = slices.Insert(text, at, s.grouping)
		}
		return text
	}
	for _, position := range p.integerGroups {
		at := point - position
		if at < 0 {
			at = max(0, len(text)+at)
		}
		text = slices.Insert(text, at, s.grouping)
		point++
	}
	return text
}
