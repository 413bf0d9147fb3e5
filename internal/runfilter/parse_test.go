package runfilter

import (
	"testing"

	"pgregory.net/rapid"
)

// TestParse shows what is read, as it is written back.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "",
		"  state:failure  -flow:trip ":   "state:FAILURE -flow:trip",
		"ended:<1h created:>90m":         "ended:<1h created:>90m",
		"trip-k3":                        "id:trip-k3*",
		"-trip-*":                        "-id:trip-*",
		`"a b*"`:                         `id:"a b*"*`,
		"label:team=a,env,x=b*,y=":       "label:team=a,env,x=b*,y=",
		`label:"a=b"="c,\"\\"`:           `label:"a=b"="c,\"\\"`,
		"created:2026-01-02..":           "created:2026-01-02..",
		"created:..2026-01-02T03:04:05Z": "created:..2026-01-02T03:04:05Z",
		"is:person,TOP undo:none":        "is:person,top undo:none",
		"code:Ebb.Timeout parent:*":      "code:Ebb.Timeout parent:*",
		`outcome:"succeeded"`:            "outcome:succeeded",
		"flow:-odd":                      "flow:-odd",
	} {
		f, err := Parse(text)
		if err != nil || f.String() != want {
			t.Errorf("%q is read as %q (%v), want %q", text, f, err, want)
		}
	}
}

// TestParseRefuses names the place and the fix.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"flow:a stat:FAILURE": "filter:8: stat is not a field: did you mean state?",
		"state:FAILUR":        "filter:7: state:FAILUR is not known: did you mean FAILURE?",
		"state:RUNNING,x":     "filter:15: state:x is not known: want PENDING, RUNNING, SUCCESS, FAILURE, REVERTED, SUSPENDING, SUSPENDED, RESUMING",
		"é ended:1h": "filter:9: ended:1h: want an age such as <1h or >2d (s, m, h, d, w), or times such as " +
			"2026-01-31..2026-02-01T12:00:00Z",
		"flow:":        "filter:1: flow has no value: write flow:TEXT, or flow:* for any",
		"flow:a,":      "filter:6: flow has no value: write flow:TEXT, or flow:* for any",
		`id:"open`:     `filter:4: the quotation mark is not closed: write " at the end, and \" for one within`,
		"label:=x":     "filter:7: label has no key: write label:KEY=VALUE, or label:KEY for any value",
		":x":           "filter:1: a field is missing before the colon: write FIELD:VALUE",
		"-":            "filter:1: a term is empty: write FIELD:VALUE",
		"id:a\xff":     "filter:1: the filter is not UTF-8",
		"id:a\x00":     "filter:5: the filter has a character of value 0: leave it out",
		"ended:<9999w": "",
	} {
		_, err := Parse(text)
		if got := errorText(err); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzParse writes back what it reads, and reads it as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"state:FAILURE -flow:trip ended:<1h label:team=a", `-id:"a b*"* x`, "created:2026-01-02..2026-01-02T00:00:00.5+01:00",
		`label:""`, `""*`, "label:a=*", "-:", "a:b:c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := Parse(text)
		if err != nil {
			return
		}
		written := read.String()
		again, err := Parse(written)
		if len(written) <= MaxText && (err != nil || again.String() != written) {
			t.Errorf("%q is written as %q, and that as %q: %v", text, written, again, err)
		}
	})
}

// TestQuote reads every text as it was written.
func TestQuote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z"\\ ,=*:<\-\n\té]{1,12}`).Draw(t, "text")
		v := value{text: text, prefix: rapid.Bool().Draw(t, "prefix")}
		f, err := Parse("-flow:" + quote(v.text, v.prefix))
		if err != nil || len(f.terms) != 1 || len(f.terms[0].values) != 1 || f.terms[0].values[0] != v {
			t.Fatalf("%+v is read as %+v: %v", v, f.terms, err)
		}
	})
}
