package jsonata

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Functions for times. A time is a number of milliseconds since 1970.

func now(r *run, args []any) (any, error) {
	return r.formatTime(float64(r.now.UnixMilli()), args)
}

func millis(r *run, _ []any) (any, error) { return float64(r.now.UnixMilli()), nil }

func fromMillis(r *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	return r.formatTime(n, args[1:])
}

// farthest is the maximum distance of a time from 1970 in milliseconds: a hundred million days.
const farthest = 8.64e15

const isoPicture = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]"

func (r *run) formatTime(ms float64, args []any) (any, error) {
	picture, ok := argument[string](args, 0)
	if !ok {
		picture = isoPicture
	}
	offset := 0.0 // as written: 530 means five hours and thirty minutes
	if zone, ok := argument[string](args, 1); ok {
		offset = leadingInteger(zone)
	}
	hours, minutes := math.Floor(offset/100), math.Mod(offset, 100)
	ms += (60*hours + minutes) * 60_000
	if math.IsNaN(ms) || math.Abs(ms) > farthest {
		return nil, &fault{message: "Invalid time value"}
	}
	r.work(len(picture))
	parts, err := parseTimePicture(picture)
	if err != nil {
		return nil, err
	}
	at := time.UnixMilli(int64(ms)).UTC()
	var b strings.Builder
	for _, part := range parts {
		text, err := part.format(r, at, hours, minutes)
		if err != nil {
			return nil, err
		}
		if err := r.write(&b, text); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}

func (p *timePart) format(r *run, at time.Time, hours, minutes float64) (string, error) {
	switch p.component {
	case 0:
		return p.literal, nil
	case 'Z', 'z':
		return p.formatZone(r, hours, minutes)
	case 'P':
		text := "am"
		if at.Hour() >= 12 {
			text = "pm"
		}
		if p.names == upperCaseLetters && p.named {
			text = strings.ToUpper(text)
		}
		return text, nil
	case 'C', 'E':
		return "ISO", nil
	}
	value := fragment(at, p.component)
	if p.component == 'Y' && p.digits >= 0 {
		value %= int(math.Pow(10, float64(min(p.digits, 9))))
	}
	if !p.named {
		if p.integer == nil {
			return "", &fault{code: "D3132", value: string(p.component)}
		}
		return p.integer.format(r, float64(value))
	}
	var name string
	switch p.component {
	case 'M', 'x':
		name = time.Month(value).String()
	case 'F':
		name = time.Weekday(value % 7).String()
	default:
		return "", &fault{code: "D3133", value: string(p.component)}
	}
	switch p.names {
	case upperCaseLetters:
		name = strings.ToUpper(name)
	case lowerCase:
		name = strings.ToLower(name)
	case titleCase:
	}
	if p.hasMost && len(name) > p.most {
		name = name[:max(0, p.most)]
	}
	return name, nil
}

func (p *timePart) formatZone(r *run, hours, minutes float64) (string, error) {
	offset := 100*hours + minutes
	var text string
	var err error
	switch digits := p.integer.mandatory; {
	case p.integer.regular > 0, digits == 3 || digits == 4:
		text, err = p.integer.format(r, offset)
	case digits == 1 || digits == 2:
		if text, err = p.integer.format(r, hours); err == nil && minutes != 0 {
			sign := ""
			if minutes < 0 {
				sign = "-"
			}
			rest := strconv.Itoa(int(math.Abs(minutes)))
			text += ":" + sign + strings.Repeat("0", max(0, 2-len(rest))) + rest
		}
	default:
		err = &fault{code: "D3134", value: float64(digits)}
	}
	if err != nil {
		return "", err
	}
	if offset >= 0 {
		text = "+" + text
	}
	if p.component == 'z' {
		text = "GMT" + text
	}
	if offset == 0 && p.traditional {
		text = "Z"
	}
	return text, nil
}

// fragment returns a component of a time.
func fragment(at time.Time, component byte) int {
	year, month, day := at.Date()
	switch component {
	case 'Y':
		return year
	case 'M':
		return int(month)
	case 'D':
		return day
	case 'd':
		return at.YearDay()
	case 'F':
		return weekday(at)
	case 'W':
		return week(at, firstWeek(year, 1), firstWeek(year+1, 1), firstWeek(year-1, 1), 52)
	case 'w':
		return week(at, firstWeek(year, month), firstWeek(year, month+1), firstWeek(year, month-1), 4)
	case 'X':
		return within(at, year, firstWeek(year, 1), firstWeek(year+1, 1), year-1, year+1)
	case 'x':
		return within(at, int(month), firstWeek(year, month), firstWeek(year, month+1), int(month+10)%12+1, int(month)%12+1)
	case 'H':
		return at.Hour()
	case 'h':
		return (at.Hour()+11)%12 + 1
	case 'm':
		return at.Minute()
	case 's':
		return at.Second()
	default: // f
		return at.Nanosecond() / int(time.Millisecond)
	}
}

// weekday returns 1 for Monday to 7 for Sunday.
func weekday(at time.Time) int { return (int(at.Weekday())+6)%7 + 1 }

// firstWeek returns the Monday of the first week of a month or year: the week with most of its days in that period.
func firstWeek(year int, month time.Month) time.Time {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	day := weekday(first)
	if day > 4 {
		return first.AddDate(0, 0, 8-day)
	}
	return first.AddDate(0, 0, 1-day)
}

// week returns the number of a day's week. A day before the first week belongs to the previous period. A day after the
// last week may belong to the following period.
func week(at, first, following, previous time.Time, last int) int {
	today := at.Truncate(24 * time.Hour)
	days := func(from time.Time) int { return int(math.Round(today.Sub(from).Hours() / 24)) }
	n := days(first)/7 + 1
	switch {
	case days(first) < 0:
		return days(previous)/7 + 1
	case n > last && !today.Before(following):
		return 1
	}
	return n
}

// within returns the year or month to which a time belongs by its week.
func within(at time.Time, this int, first, following time.Time, previous, next int) int {
	switch {
	case at.Before(first):
		return previous
	case !at.Before(following):
		return next
	}
	return this
}

func toMillis(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	if picture, ok := argument[string](args, 1); ok {
		return r.parseTime(text, picture)
	}
	if !isoTime.MatchString(text) {
		return nil, &fault{code: "D3110", value: text}
	}
	return parseISO(text), nil
}

// isoTime matches times in ECMAScript's form.
var isoTime = regexp.MustCompile(
	`^\d{4}(-[01]\d)*(-[0-3]\d)*(T[0-2]\d:[0-5]\d:[0-5]\d)*(\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?$`)

// parseISO parses a time in ECMAScript's form: a year, and optionally month, day, time to the second, fraction and
// zone. Without a zone, the time is UTC. It returns NaN for any other text.
func parseISO(text string) float64 {
	parts := isoParts.FindStringSubmatch(text)
	if parts == nil {
		return math.NaN()
	}
	field := func(i, missing int) int {
		if n, err := strconv.Atoi(parts[i]); err == nil {
			return n
		}
		return missing
	}
	year, month, day, hour, minute, second := field(1, 0), field(2, 1), field(3, 1), field(4, 0), field(5, 0), field(6, 0)
	ms, err := strconv.Atoi((parts[7] + "000")[:3])
	zone := 60*field(9, 0) + field(10, 0)
	if parts[8] == "-" {
		zone = -zone
	}
	if err != nil || month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || hour == 24 && minute+second+ms > 0 {
		return math.NaN()
	}
	at := time.Date(year, time.Month(month), day, hour, minute-zone, second, ms*int(time.Millisecond), time.UTC)
	return float64(at.UnixMilli())
}

var isoParts = regexp.MustCompile(
	`^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:T(\d\d):(\d\d):(\d\d))?(?:\.(\d+))?(?:([+-])(\d\d):?(\d\d)|Z)?$`)
