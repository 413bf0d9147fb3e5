package check

import (
	"strings"
	"testing"
)

// FuzzTimespan: no text makes parseTimespan panic or return a negative time.
func FuzzTimespan(f *testing.F) {
	for _, text := range []string{"PT90S", "P1Y2M3W4DT5H6M7.5S", "1.02:03:04.5", "24:00:00", "P", "PT", "10", "P99999999Y", "PT0S", "-PT1S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		span, ok := parseTimespan(text)
		if span < 0 || !ok && span != 0 {
			t.Errorf("%q is %v, %v", text, span, ok)
		}
		if ok && strings.TrimSpace(text) != text {
			t.Errorf("%q has blanks around it, and is taken", text)
		}
	})
}

// FuzzInside: an expression taken out of ${ } is in the text at its position, without anything around it.
func FuzzInside(f *testing.F) {
	for _, text := range []string{"${ .a }", "${.a}", " ${\t.a\n} ", "${}", "${", "}", "${ ${ } }", "Hi ${ .x }"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		program, from, ok := inside(text)
		if !ok {
			return
		}
		if from < 0 || from+len(program) > len(text) || text[from:from+len(program)] != program {
			t.Errorf("%q: %q is said to stand at %d", text, program, from)
		}
		if strings.TrimSpace(program) != program {
			t.Errorf("%q: %q has blanks around it", text, program)
		}
	})
}
