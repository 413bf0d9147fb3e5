package jsonata

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

// A timePart is a part of the picture of a time (XPath and XQuery Functions 3.1, format-dateTime): literal text, or a
// component in brackets, such as [H01].
type timePart struct {
	literal     string
	component   byte // 0: literal
	named       bool // written as a name, not a number
	names       letterCase
	traditional bool
	least, most int
	hasLeast    bool
	hasMost     bool
	digits      int // of years, months and days: number of digits, -1 for any
	integer     *integerPicture
}

var defaultPresentations = map[byte]string{
	'Y': "1", 'M': "1", 'D': "1", 'd': "1", 'F': "n", 'W': "1", 'w': "1", 'X': "1", 'x': "1", 'H': "1", 'h': "1",
	'P': "n", 'm': "01", 's': "01", 'f': "1", 'Z': "01:01", 'z': "01:01", 'C': "n", 'E': "n",
}

func parseTimePicture(picture string) ([]*timePart, error) {
	var parts []*timePart
	literal := func(text string) {
		if text != "" {
			parts = append(parts, &timePart{literal: strings.ReplaceAll(text, "]]", "]")})
		}
	}
	for {
		at := strings.IndexByte(picture, '[')
		if at < 0 {
			literal(picture)
			return parts, nil
		}
		literal(picture[:at])
		if strings.HasPrefix(picture[at:], "[[") {
			parts = append(parts, &timePart{literal: "["})
			picture = picture[at+2:]
			continue
		}
		marker, rest, ok := strings.Cut(picture[at+1:], "]")
		if !ok {
			return nil, &fault{code: "D3135"}
		}
		part, err := parseTimePart(strings.Join(strings.Fields(marker), ""))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		picture = rest
	}
}

func parseTimePart(marker string) (*timePart, error) {
	if marker == "" {
		return nil, &fault{code: "D3132", value: ""}
	}
	p := &timePart{component: marker[0], digits: -1}
	presentation := marker[1:]
	if at := strings.LastIndexByte(marker, ','); at >= 1 {
		presentation = marker[1:at]
		least, most, _ := strings.Cut(marker[at+1:], "-")
		p.least, p.hasLeast = width(least)
		p.most, p.hasMost = width(most)
	}
	modifier := ""
	switch {
	case presentation == "":
		var ok bool
		if presentation, ok = defaultPresentations[p.component]; !ok {
			return nil, &fault{code: "D3132", value: string(p.component)}
		}
	case len(presentation) > 1 && strings.IndexByte("atco", presentation[len(presentation)-1]) >= 0:
		modifier = presentation[len(presentation)-1:]
		presentation = presentation[:len(presentation)-1]
	}
	p.traditional = modifier == "t"
	switch {
	case strings.HasPrefix(presentation, "n"):
		p.named = true
	case strings.HasPrefix(presentation, "Nn"):
		p.named, p.names = true, titleCase
	case strings.HasPrefix(presentation, "N"):
		p.named, p.names = true, upperCaseLetters
	case strings.IndexByte("YMDdFWwXxHhmsf", p.component) >= 0:
		if modifier != "" {
			presentation += ";" + modifier
		}
		return p, p.number(presentation)
	}
	if p.component == 'Z' || p.component == 'z' {
		var err error
		if p.integer, err = parseIntegerPicture(presentation); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// number sets the numeric format of a component.
func (p *timePart) number(picture string) (err error) {
	if p.integer, err = parseIntegerPicture(picture); err != nil {
		return err
	}
	if p.integer.style != decimalStyle {
		return nil
	}
	if p.hasLeast {
		p.integer.mandatory = max(p.integer.mandatory, min(p.least, maxFraction))
	}
	if strings.IndexByte("YMD", p.component) < 0 {
		return nil
	}
	if p.hasMost {
		p.digits = min(p.most, maxFraction)
		p.integer.mandatory = p.digits
	} else if w := p.integer.mandatory + p.integer.optional; w >= 2 {
		p.digits = w
	}
	p.integer.width = p.digits
	return nil
}

// width reads a width. "" and * mean none.
func width(text string) (int, bool) {
	n := leadingInteger(text)
	if math.IsNaN(n) || text == "*" {
		return 0, false
	}
	return int(max(-1, min(n, 1e6))), true
}

// pattern returns a regular expression that matches the written form of the part.
func (p *timePart) pattern() (string, error) {
	switch {
	case p.component == 0:
		return regexp.QuoteMeta(p.literal), nil
	case p.component == 'Z' || p.component == 'z':
		text := "[-+][0-9]+"
		if p.component == 'z' {
			text = "GMT" + text
		}
		if p.integer.regular > 0 {
			text += regexp.QuoteMeta(p.integer.separators[0].character) + "[0-9]+"
		}
		return text, nil
	case p.integer != nil:
		return p.integer.pattern()
	case strings.IndexByte("MxFP", p.component) < 0:
		return "", &fault{code: "D3133", value: string(p.component)}
	}
	return "[a-zA-Z]+", nil
}

func (p *integerPicture) pattern() (string, error) {
	upper := p.letters == upperCaseLetters
	switch p.style { //nolint:exhaustive // the other kinds are written in digits
	case letterStyle:
		if upper {
			return "[A-Z]+", nil
		}
		return "[a-z]+", nil
	case romanStyle:
		if upper {
			return "[MDCLXVI]+", nil
		}
		return "[mdclxvi]+", nil
	case wordStyle:
		return wordPattern, nil
	case sequenceStyle:
		return "", &fault{code: "D3130", value: p.text}
	}
	text := "[0-9]+"
	if p.width > 0 {
		least := p.width - p.optional
		text = "[0-9]{" + strconv.Itoa(max(0, least)) + "," + strconv.Itoa(max(0, least, p.width)) + "}"
	}
	if p.ordinal {
		text += "(?:th|st|nd|rd)"
	}
	return text, nil
}

// wordPattern matches numbers in words. Longer words come before their prefixes.
var wordPattern = func() string {
	var all []string
	for word := range wordValues {
		all = append(all, word)
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return "(?:" + strings.Join(append(all, "and", `[\-, ]`), "|") + ")+"
}()

// parse returns the value of the written form of the part, and whether it has one.
func (p *timePart) parse(text string) (float64, bool) {
	switch {
	case p.component == 'Z' || p.component == 'z':
		text = strings.TrimPrefix(strings.ToUpper(text), "GMT")
		hours, minutes := text, ""
		if p.integer.regular > 0 {
			hours, minutes, _ = strings.Cut(text, p.integer.separators[0].character)
		} else if len(text) > 3 {
			hours, minutes = text[:3], text[3:]
		}
		offset := 60 * leadingInteger(hours)
		if minutes != "" {
			offset += leadingInteger(minutes)
		}
		return offset, true
	case p.integer != nil:
		return p.integer.parse(text), true
	case p.component == 'P':
		switch text {
		case "am", "AM":
			return 0, true
		case "pm", "PM":
			return 1, true
		}
		return 0, false
	}
	for i := 1; i <= 12; i++ {
		name := time.Month(i).String()
		if p.component == 'F' {
			name = time.Weekday(i % 7).String()
		}
		if p.hasMost && p.most > 0 {
			name = name[:min(len(name), p.most)]
		}
		if name == text && (i <= 7 || p.component != 'F') {
			return float64(i), true
		}
	}
	return 0, false
}

// parseTime reads a time by a picture. If the text does not match, the result is undefined.
func (r *run) parseTime(text, picture string) (any, error) {
	parts, err := parseTimePicture(picture)
	if err != nil {
		return nil, err
	}
	var pattern strings.Builder
	pattern.WriteByte('^')
	for _, part := range parts {
		piece, err := part.pattern()
		if err != nil {
			return nil, err
		}
		pattern.WriteString("(" + piece + ")")
	}
	pattern.WriteByte('$')
	r.work(pattern.Len())
	re, err := ecmaregexp.Compile(pattern.String(), "i")
	if err != nil {
		return nil, &fault{message: err.Error()}
	}
	at, err := r.match(re, text, 0)
	if at == nil || err != nil {
		return nil, err
	}
	components := map[byte]float64{}
	for i, part := range parts {
		if part.component == 0 {
			continue
		}
		if value, ok := part.parse(text[at[2*i+2]:at[2*i+3]]); ok {
			components[part.component] = value
		}
	}
	if len(components) == 0 {
		return undefined, nil
	}
	return r.assembled(components)
}

// assembled builds a time from components. Missing components at the front come from now. Missing components at the end
// get their least value. A gap between them is a fault.
func (r *run) assembled(c map[byte]float64) (any, error) {
	only := func(all string, may string) bool { // some of all, and no other than those of may
		some := false
		for i := range len(may) {
			_, there := c[may[i]]
			there = there && c[may[i]] != 0
			in := strings.IndexByte(all, may[i]) >= 0
			if there && !in {
				return false
			}
			some = some || there
		}
		return some
	}
	const dates, times = "YXMxWwdD", "PHhmsf"
	date, clock := "YMD", "Hmsf"
	switch {
	case only("YMD", dates):
	case only("Yd", dates):
		date = "YD"
	case only("XxwF", dates):
		date = "XxwF"
	case only("XWF", dates):
		date = "XWF"
	}
	if !only("Hmsf", times) && only("Phmsf", times) {
		clock = "Phmsf"
	}
	started, ended := false, false
	for _, component := range []byte(date + clock) {
		if _, ok := c[component]; ok {
			if started = true; ended {
				return nil, &fault{code: "D3136"}
			}
			continue
		}
		switch {
		case !started:
			c[component] = float64(fragment(r.now.UTC(), component))
		case strings.IndexByte("MDd", component) >= 0:
			c[component], ended = 1, true
		default:
			c[component], ended = 0, true
		}
	}
	if date == "XxwF" || date == "XWF" {
		return nil, &fault{code: "D3136"}
	}
	month, day := max(c['M'], 1), c['D']
	if date == "YD" {
		month, day = 1, c['d']
	}
	hour := c['H']
	if clock == "Phmsf" {
		hour = math.Mod(c['h'], 12) + 12*c['P']
	}
	for _, n := range []float64{c['Y'], month, day, hour, c['m'], c['s'], c['f'], c['Z'], c['z']} {
		if math.IsNaN(n) || math.Abs(n) > farthest/(24*60*60*1000) {
			return math.NaN(), nil
		}
	}
	year := int(c['Y'])
	if 0 <= year && year <= 99 {
		year += 1900
	}
	zone := c['Z']
	if zone == 0 {
		zone = c['z']
	}
	at := time.Date(year, time.Month(month), int(day), int(hour), int(c['m']-zone), int(c['s']),
		int(c['f'])*int(time.Millisecond), time.UTC)
	return float64(at.UnixMilli()), nil
}
