package jsonata

import (
	"math"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

// Functions that search a text for a text, a regular expression, or the matches of a user's function.

// A found is a match.
type found struct {
	match      string
	start, end int // offsets
	groups     *array
	next       func(r *run) (*found, error)
	text       string
}

// find finds a regular expression.
func (r *run) find(re *ecmaregexp.Regexp, text string, from int) (*found, error) {
	at, err := r.match(re, text, from)
	if at == nil || err != nil {
		return nil, err
	}
	m := &found{match: text[at[0]:at[1]], start: at[0], end: at[1], groups: &array{}, text: text}
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			m.groups.push(nil)
		} else {
			m.groups.push(text[at[i]:at[i+1]])
		}
	}
	m.next = func(r *run) (next *found, err error) {
		if m.end < len(text) {
			next, err = r.find(re, text, m.end)
		}
		if next != nil && next.match == "" {
			return nil, &fault{code: "D1004", value: re.Source()}
		}
		return next, err
	}
	return m, nil
}

// object returns a match as expressions see it. Positions count in units of
// UTF-16.
func (m *found) object(r *run) *object {
	r.work(m.end / bytesPerStep)
	start := units(m.text[:m.start])
	o := &object{}
	o.set("match", m.match)
	o.set("start", float64(start))
	o.set("end", float64(start+units(m.match)))
	o.set("groups", m.groups)
	o.set("next", &native{signature: anything, do: func(r *run, _ []any) (any, error) {
		next, err := m.next(r)
		if next == nil || err != nil {
			return nil, err
		}
		return next.object(r), nil
	}})
	return o
}

var anything = mustSignature("<x?:x>")

// units returns the length of a text in UTF-16 units.
func units(text string) int {
	n := 0
	for _, c := range text {
		if n++; c > 0xffff {
			n++
		}
	}
	return n
}

// offsetOfUnit returns the offset of a unit of UTF-16.
func offsetOfUnit(text string, unit float64) int {
	n := 0.0
	for at, c := range text {
		if n >= unit {
			return at
		}
		if n++; c > 0xffff {
			n++
		}
	}
	return len(text)
}

// search finds a pattern, which is a function, in a text.
func (r *run) search(pattern any, text string) (*found, error) {
	if m, ok := pattern.(*matcher); ok {
		return r.find(m.regex, text, 0)
	}
	return r.told(pattern, text, text)
}

// told converts the match that a user's function returned.
func (r *run) told(f any, text string, args ...any) (*found, error) {
	v, err := r.apply(f, args, null{})
	if v == nil || err != nil {
		return nil, err
	}
	o, _ := v.(*object)
	if o == nil {
		o = &object{}
	}
	start, startOK := number(o.get("start"))
	end, _ := number(o.get("end"))
	groups, groupsOK := o.get("groups").(*array)
	next := o.get("next")
	if !startOK && !groupsOK && !isFunction(next) {
		return nil, &fault{code: "T1010"}
	}
	m := &found{text: text, start: offsetOfUnit(text, start), end: offsetOfUnit(text, end), groups: groups}
	if m.match, _ = o.get("match").(string); groups == nil {
		m.groups = &array{}
	}
	m.next = func(r *run) (*found, error) { return r.told(next, text) }
	return m, nil
}

// limited returns the limit that an argument sets. The fault beyond is for a negative one.
func limited(args []any, i int, beyond string) (float64, error) {
	if i >= len(args) || args[i] == nil {
		return math.Inf(1), nil
	}
	n, _ := number(args[i])
	if n < 0 {
		return 0, &fault{code: beyond, value: args[i], index: i + 1}
	}
	return n, nil
}

// matches calls visit with each match, up to a limit.
func (r *run) matches(pattern any, text string, limit float64, visit func(m *found) error) error {
	if limit <= 0 {
		return nil
	}
	m, err := r.search(pattern, text)
	for n := 0.0; m != nil && err == nil && n < limit; n++ {
		if r.work(1); r.broken != nil {
			return r.broken
		}
		if err = visit(m); err == nil {
			m, err = m.next(r)
		}
	}
	return err
}

func contains(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	r.work(len(text) / bytesPerStep)
	if part, ok := argument[string](args, 1); ok {
		return strings.Contains(text, part), nil
	}
	m, err := r.search(args[1], text)
	return m != nil, err
}

func match(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	limit, err := limited(args, 2, "D3040")
	if err != nil {
		return nil, err
	}
	out := emptySequence()
	at, unit := 0, 0 // start of the last match
	err = r.matches(args[1], text, limit, func(m *found) error {
		unit += units(text[at:max(at, m.start)])
		at = max(at, m.start)
		o := &object{}
		o.set("match", m.match)
		o.set("index", float64(unit))
		o.set("groups", m.groups)
		out.push(o)
		r.made(out)
		return r.failed(nil)
	})
	return out, err
}

func split(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	limit, err := limited(args, 2, "D3020")
	if err != nil {
		return nil, err
	}
	out := &array{}
	push := func(part string) error {
		if r.work(1); float64(len(out.items)) < limit {
			out.push(part)
		}
		r.made(out)
		return r.failed(nil)
	}
	mark, ok := argument[string](args, 1)
	if ok {
		limit = math.Trunc(limit)
	}
	switch {
	case ok && mark == "":
		for _, c := range text {
			if err := push(string(c)); err != nil {
				return nil, err
			}
		}
		return out, nil
	case ok:
		for rest := text; ; {
			part, after, more := strings.Cut(rest, mark)
			if err := push(part); err != nil || !more {
				return out, err
			}
			rest = after
		}
	}
	start := 0
	err = r.matches(args[1], text, limit, func(m *found) error {
		part := text[start:max(start, m.start)]
		start = max(start, m.end)
		return push(part)
	})
	if err != nil {
		return nil, err
	}
	return out, push(text[start:])
}

func replace(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	pattern, literal := argument[string](args, 1)
	if literal && pattern == "" {
		return nil, &fault{code: "D3010", value: pattern, index: 2}
	}
	limit, err := limited(args, 3, "D3011")
	if err != nil {
		return nil, err
	}
	if literal {
		return r.replaceText(text, pattern, args[2], limit)
	}
	var b strings.Builder
	start := 0
	err = r.matches(args[1], text, limit, func(m *found) error {
		with, err := r.replacement(m, args[2])
		if err != nil {
			return err
		}
		b.WriteString(text[start:max(start, m.start)])
		start = min(len(text), max(start, m.start+len(m.match)))
		return r.write(&b, with)
	})
	if err != nil {
		return nil, err
	}
	err = r.write(&b, text[start:])
	return b.String(), err
}

// write appends to a text under construction.
func (r *run) write(b *strings.Builder, text string) error {
	r.work(len(text) / bytesPerStep)
	b.WriteString(text)
	if b.Len() > MaxSize {
		r.stop(errSize)
	}
	return r.failed(nil)
}

// replaceText replaces a text. The replacement is literal.
func (r *run) replaceText(text, pattern string, with any, limit float64) (any, error) {
	var b strings.Builder
	for n := 0.0; n < limit; n++ {
		at := strings.Index(text, pattern)
		if at < 0 {
			break
		}
		replacement, ok := with.(string)
		if !ok {
			var err error
			if replacement, err = r.replacement(&found{
				match: pattern, groups: &array{}, text: text, start: at,
				end: at + len(pattern),
			}, with); err != nil {
				return nil, err
			}
		}
		b.WriteString(text[:at])
		if err := r.write(&b, replacement); err != nil {
			return nil, err
		}
		r.work(1)
		text = text[at+len(pattern):]
	}
	err := r.write(&b, text)
	return b.String(), err
}

// replacement returns the text that replaces a match.
func (r *run) replacement(m *found, with any) (string, error) {
	if template, ok := with.(string); ok {
		return r.substitute(m, template)
	}
	o := m.object(r)
	v, err := r.apply(with, []any{o}, null{})
	if err != nil {
		return "", err
	}
	text, ok := v.(string)
	if !ok {
		return "", &fault{code: "D3012", value: v}
	}
	return text, nil
}

// substitute replaces $0 by the match, $1 by its first group and so on, and $$ by a dollar sign. If a number names no
// group, its last digit is literal.
func (r *run) substitute(m *found, template string) (string, error) {
	var b strings.Builder
	groups := len(m.groups.items)
	for {
		before, rest, ok := strings.Cut(template, "$")
		if err := r.write(&b, before); err != nil || !ok {
			return b.String(), err
		}
		template = rest
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			template = rest[1:]
		case strings.HasPrefix(rest, "0"):
			b.WriteString(m.match)
			template = rest[1:]
		default:
			digits := len(strconv.Itoa(max(1, groups)))
			number, length := leadingNumber(rest, digits)
			if digits > 1 && number > groups {
				number, length = leadingNumber(rest, digits-1)
			}
			if length == 0 {
				b.WriteByte('$')
				break
			}
			if number > 0 && number <= groups {
				group, _ := m.groups.items[number-1].(string)
				b.WriteString(group)
			}
			template = rest[min(len(rest), len(strconv.Itoa(number))):]
		}
	}
}

// leadingNumber returns the number at the start of a text, of at most the given number of digits, and how many digits
// it has.
func leadingNumber(text string, most int) (n, length int) {
	for length < most && length < len(text) && '0' <= text[length] && text[length] <= '9' {
		n = n*10 + int(text[length]-'0')
		length++
	}
	return n, length
}
