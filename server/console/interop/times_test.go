package interop_test

import (
	"strings"
	"testing"
)

// TestTimes: a reader chooses how times are shown, and the browser remembers it. Without scripts there is no choice.
func TestTimes(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, looks[0])
	b.visit(s.page("run", "id", tripRun))
	const created = "main .soft time"
	if got := b.texts(created); !strings.HasSuffix(got[0], " UTC") {
		t.Errorf("at first the times are %q", got)
	}
	choose := func(how string) {
		t.Helper()
		eval[bool](b, `(c => { c.value = "`+how+`"; return c.dispatchEvent(new Event("change")); })(document.querySelector("[data-times]"))`)
	}
	choose("relative")
	for range 2 {
		if got := b.texts(created); !strings.Contains(got[0], "ago") {
			t.Errorf("relative times are %q", got)
		}
		b.visit(s.page("run", "id", tripRun))
	}
	choose("local")
	local := eval[string](b, `new Date(document.querySelector("`+created+`").dateTime).toLocaleString("en")`)
	if got := b.texts(created); got[0] != local {
		t.Errorf("local times are %q, want %q", got, local)
	}
	choose("page")
	if got := b.texts(created); !strings.HasSuffix(got[0], " UTC") {
		t.Errorf("at last the times are %q", got)
	}
	plain := open(t, look{1280, false, false})
	plain.visit(s.page("run", "id", tripRun))
	if got := plain.texts("[data-times]:not([hidden])"); len(got) != 0 {
		t.Errorf("without scripts there is a choice: %q", got)
	}
}
