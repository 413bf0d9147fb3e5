package atom_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
)

// TestCheckTraceparent: what W3C Trace Context calls valid, and nothing else.
func TestCheckTraceparent(t *testing.T) {
	t.Parallel()
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for text, valid := range map[string]bool{
		"00-" + trace + "-" + parent + "-01":                             true,
		"00-" + trace + "-" + parent + "-00":                             true,
		"cc-" + trace + "-" + parent + "-09":                             true,
		"cc-" + trace + "-" + parent + "-09-what-is":                     true,
		"00-" + trace + "-" + parent + "-01-more":                        false,
		"ff-" + trace + "-" + parent + "-01":                             false,
		"00-" + trace + "-" + parent:                                     false,
		"00-" + trace + "-" + parent + "-1":                              false,
		"00-" + trace + "-" + parent + "-01\n":                           false,
		"cc-" + trace + "-" + parent + "-01-\n":                          false,
		"cc-" + trace + "-" + parent + "-01-" + strings.Repeat("x", 101): false,
		"00-" + strings.ToUpper(trace) + "-" + parent + "-01":            false,
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01":           false,
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01":            false,
		"": false, "00-abc-01": false,
	} {
		if err := atom.CheckTraceparent(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTraceparent(t *testing.T) {
	t.Parallel()
	if got := atom.Traceparent(atom.WithCall(t.Context(), &atom.Call{Trace: "x"})); got != "x" {
		t.Errorf("it is %q", got)
	}
	if got := atom.Traceparent(context.Background()); got != "" {
		t.Errorf("outside of a call it is %q", got)
	}
}

// FuzzTraceparent: an accepted traceparent is short and printable, so that it can be a header, an environment variable
// and a column.
func FuzzTraceparent(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more")
	f.Fuzz(func(t *testing.T, text string) {
		err := atom.CheckTraceparent(text)
		if odd := strings.Trim(text, "0123456789abcdef-") != "" && strings.HasPrefix(text, "00"); err == nil &&
			(len(text) > 156 || odd || strings.ContainsAny(text, "\r\n\x00 ")) {
			t.Errorf("%q is a traceparent", text)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	})
}
