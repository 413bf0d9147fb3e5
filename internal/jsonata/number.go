package jsonata

import (
	"math"
	"strconv"
	"strings"
)

// appendNumber appends a number as ECMAScript writes it: with the fewest digits that identify it, and with an exponent
// from 1e21 and below 1e-6. JSON has no form for a number that is not finite. It is written as its name.
func appendNumber(b []byte, n float64) []byte {
	switch abs := math.Abs(n); {
	case n == 0:
		return append(b, '0')
	case math.IsInf(n, 1):
		return append(b, "Infinity"...)
	case math.IsInf(n, -1):
		return append(b, "-Infinity"...)
	case math.IsNaN(n):
		return append(b, "NaN"...)
	case abs >= 1e21 || abs < 1e-6:
		text := strconv.FormatFloat(n, 'e', -1, 64) // 1e+21, 1e-07
		mantissa, exponent, _ := strings.Cut(text, "e")
		b = append(append(b, mantissa...), 'e', exponent[0])
		return append(b, strings.TrimLeft(exponent[1:], "0")...)
	}
	return strconv.AppendFloat(b, n, 'f', -1, 64)
}

func numberText(n float64) string { return string(appendNumber(nil, n)) }

// fifteen rounds a number to the fifteen digits that the language shows.
func fifteen(n float64) float64 {
	if n == math.Trunc(n) && math.Abs(n) < 1e15 || math.IsInf(n, 0) || math.IsNaN(n) {
		return n
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'e', 14, 64), 64)
	if err != nil {
		return n
	}
	return rounded
}

// round rounds to a number of decimal places, halves to the even neighbor.
func round(n float64, places int) float64 {
	n = shift(n, places)
	result := math.Floor(n + 0.5)
	if n == math.Trunc(n) { // adding a half to a large number would change it
		result = n
	}
	if math.Abs(result-n) == 0.5 && math.Abs(math.Mod(result, 2)) == 1 {
		result--
	}
	result = shift(result, -places)
	if result == 0 {
		return 0 // not -0
	}
	return result
}

// shift moves the decimal point in the digits, without arithmetic, so that a number written with few digits keeps them.
func shift(n float64, places int) float64 {
	if places == 0 || n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return n
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(n, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return n
	}
	shifted, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+places), 64)
	if err != nil && math.IsInf(shifted, 0) {
		return math.NaN()
	}
	return shifted
}

// parseNumber reads a JSON number at the start of a text, and returns it with its length. If there is none, the length
// is 0. The caller reads the sign.
func parseNumber[T string | []byte](text T) (n float64, length int) {
	digits := func(i int) int {
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i
	}
	end := digits(0)
	if end == 0 {
		return 0, 0
	}
	if text[0] == '0' {
		end = 1
	}
	if end < len(text) && text[end] == '.' {
		if fraction := digits(end + 1); fraction > end+1 {
			end = fraction
		}
	}
	if end < len(text) && text[end]|0x20 == 'e' {
		at := end + 1
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if exponent := digits(at); exponent > at {
			end = exponent
		}
	}
	n, err := strconv.ParseFloat(string(text[:end]), 64)
	if err != nil && !math.IsInf(n, 0) {
		return 0, 0
	}
	return n, end
}
