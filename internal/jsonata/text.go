package jsonata

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Functions on texts. A character is a Unicode code point.

// text casts a value to a text. Undefined becomes "".
func (r *run) text(v any, indent bool) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case function:
		return "", nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "", &fault{code: "D3001", value: v}
		}
	case *array:
		if v.outer {
			return r.text(v.items[0], indent)
		}
	}
	if !r.make(2 * sizeOf(v)) {
		return "", r.broken
	}
	if err := finite(v); err != nil {
		return "", err
	}
	w := &writer{short: true, indent: indent}
	w.value(v)
	if !r.make(len(w.b)) {
		return "", r.broken
	}
	return string(w.b), nil
}

// finite refuses values that contain numbers without a form in JSON.
func finite(v any) error {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) {
			return &fault{code: "D1001", value: v}
		}
	case *array:
		for _, item := range v.items {
			if err := finite(item); err != nil {
				return err
			}
		}
	case *object:
		return finite(&array{items: v.values})
	}
	return nil
}

func toString(r *run, args []any) (any, error) {
	if args[0] == nil {
		return undefined, nil
	}
	indent, _ := argument[bool](args, 1)
	return r.text(args[0], indent)
}

// textual returns the function that converts a text.
func textual(f func(string) string) func(*run, []any) (any, error) {
	return func(r *run, args []any) (any, error) {
		text, ok := argument[string](args, 0)
		if !ok {
			return undefined, nil
		}
		r.work(len(text) / bytesPerStep)
		return f(text), nil
	}
}

func upperCase(text string) string { return strings.ReplaceAll(strings.ToUpper(text), "ß", "SS") }

// trim replaces each run of white space by one blank, and removes it at both ends.
func trim(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool {
		return c == ' ' || c == '\t' || c == '\n' ||
			c == '\r'
	}), " ")
}

func length(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	r.work(len(text) / bytesPerStep)
	return float64(utf8.RuneCountInString(text)), nil
}

func substring(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	r.work(len(text) / bytesPerStep)
	n := float64(utf8.RuneCountInString(text))
	start, _ := number(args[1])
	if start = math.Trunc(start); start < 0 {
		start = max(n+start, 0)
	}
	end := n
	if size, ok := number(args[2]); ok {
		end = math.Trunc(start + size)
	}
	if start = min(start, n); end <= start {
		return "", nil
	}
	from := offsetOf(text, int(start))
	return text[from : from+offsetOf(text[from:], int(min(end, n)-start))], nil
}

// offsetOf returns the offset of character i.
func offsetOf(text string, i int) int {
	for at := range text {
		if i == 0 {
			return at
		}
		i--
	}
	return len(text)
}

func substringBefore(_ *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	mark, _ := argument[string](args, 1)
	before, _, _ := strings.Cut(text, mark)
	return before, nil
}

func substringAfter(_ *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	mark, _ := argument[string](args, 1)
	if _, after, found := strings.Cut(text, mark); found {
		return after, nil
	}
	return text, nil
}

func pad(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	filling, _ := argument[string](args, 2)
	if filling == "" {
		filling = " "
	}
	width, _ := number(args[1])
	missing := math.Trunc(math.Abs(width)) - float64(utf8.RuneCountInString(text))
	if !(missing > 0) {
		return text, nil
	}
	if missing > MaxSize || !r.make(len(text)+int(missing)*len(filling)/utf8.RuneCountInString(filling)) {
		r.stop(errSize)
		return nil, r.broken
	}
	whole := int(missing) / utf8.RuneCountInString(filling)
	part := int(missing) % utf8.RuneCountInString(filling)
	padding := strings.Repeat(filling, whole) + filling[:offsetOf(filling, part)]
	if width > 0 {
		return text + padding, nil
	}
	return padding + text, nil
}

func join(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	between, _ := argument[string](args, 1)
	if !r.make(list.size + len(between)*len(list.items)) {
		return nil, r.broken
	}
	parts := make([]string, len(list.items))
	for i, item := range list.items {
		parts[i], _ = item.(string)
	}
	return strings.Join(parts, between), nil
}
