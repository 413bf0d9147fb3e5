package storage_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

func TestMask(t *testing.T) {
	t.Parallel()
	secrets := storage.Secrets{Symbols: []string{"pin", "é"}, Atoms: []string{"Login", "Ship/Pack", "A#2"}}
	for _, c := range []struct{ path, text, want string }{
		{"", `{"pin":1,"name":"pin"}`, `{"pin":"***","name":"pin"}`},
		{"", `{ "b" : 1 , "pin" : [ 1, {"x":"}"} ] , "a" : 2 }`, `{ "b" : 1 , "pin" : "***" , "a" : 2 }`},
		{"", `{"pin":"1\"}","z":{"pin":null},"y":[{"pin":-1.5e3}]}`, `{"pin":"***","z":{"pin":"***"},"y":[{"pin":"***"}]}`},
		{"", `{"\u0070in":1,"\u00e9":true,"é":{}}`, `{"\u0070in":"***","\u00e9":"***","é":"***"}`},
		{"", `{"Pin":1,"pi":2,"pinn":3,"":4}`, `{"Pin":1,"pi":2,"pinn":3,"":4}`},
		{"", `["pin",":","pin:"]`, `["pin",":","pin:"]`},
		{"", `"pin"`, `"pin"`},
		{"", `{"pin":{"pin":1}}`, `{"pin":"***"}`},
		{"", `{"pin":1}` + "\n", `{"pin":"***"}` + "\n"},
		{"Login", `{"x":1}`, `"***"`},
		{"Login#7", `1`, `"***"`},
		{"Ship[3]/Pack#2", `1`, `"***"`},
		{"Ship#4[0]/Pack", `1`, `"***"`},
		{"Ship[3]", `{"pin":1}`, `{"pin":"***"}`},
		{"A#2", `1`, `"***"`},
		{"A", `1`, `1`},
		{"[1]", `1`, `1`},
		{"x", `{"pin":`, `{"pin":"***"`}, // cut off: nothing of it may show
		{"x", `{"pin":"12`, `{"pin":"***"`},
		{"x", `{"pin`, `{"pin`},
	} {
		if got := secrets.Mask(c.path, atom.FromJSON([]byte(c.text))).String(); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.path, c.text, got, c.want)
		}
	}
	if got := secrets.Mask("Login", nil); got != nil {
		t.Errorf("no value is masked as %s", got)
	}
	if got := secrets.Mask("x", atom.Value("?pin")).String(); got != `"***"` {
		t.Errorf("a codec that is not known: %s", got)
	}
	if got := (storage.Secrets{}).Mask("Login", atom.Value("?pin")).String(); got != "pin" {
		t.Errorf("without secrets: %s", got)
	}
}

// TestMaskIsCheap looks through values without copying them.
func TestMaskIsCheap(t *testing.T) {
	v := atom.MustEncode(map[string]any{"a": strings.Repeat("x", 1000), "b": []int{1, 2, 3}})
	secrets := storage.Secrets{Symbols: []string{"pin"}, Atoms: []string{"Login"}}
	if n := testing.AllocsPerRun(100, func() { secrets.Mask("Ship", v) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	deep := atom.FromJSON(append(bytes.Repeat([]byte("["), 1<<20-2), '1')) // no stack for it
	secrets.Mask("Ship", deep)
}

// jsons returns values with all that JSON has, and the same with its secrets
// replaced.
func jsons() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(v float64) any { return v }),
		rapid.Map(rapid.String(), func(v string) any { return v }),
	)
	var within func(depth int) *rapid.Generator[any]
	within = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		keys := rapid.OneOf(rapid.SampledFrom([]string{"pin", "ö\"\\", "x"}), rapid.String())
		return rapid.OneOf(
			leaf,
			rapid.Map(rapid.SliceOfN(within(depth-1), 0, 3), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(keys, within(depth-1), 0, 4), func(v map[string]any) any { return v }),
		)
	}
	return within(4)
}

// mask is Mask done on decoded values.
func mask(secrets storage.Secrets, v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mask(secrets, v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			if out[key] = mask(secrets, member); slices.Contains(secrets.Symbols, key) {
				out[key] = storage.Masked
			}
		}
		return out
	default:
		return v
	}
}

// TestMaskAnything compares with masking done on decoded values.
func TestMaskAnything(t *testing.T) {
	t.Parallel()
	secrets := storage.Secrets{Symbols: []string{"pin", "ö\"\\"}}
	rapid.Check(t, func(rt *rapid.T) {
		v := jsons().Draw(rt, "value")
		text, err := json.Marshal(v)
		if rapid.Bool().Draw(rt, "spaced") {
			text, err = json.MarshalIndent(v, " ", "\t")
		}
		if err != nil {
			rt.Fatal(err)
		}
		var decoded, got any
		if err := json.Unmarshal(text, &decoded); err != nil {
			rt.Fatal(err)
		}
		masked := secrets.Mask("x", atom.FromJSON(text))
		if err := masked.Decode(&got); err != nil {
			rt.Fatalf("%s: %v", masked, err)
		}
		if diff := cmp.Diff(mask(secrets, decoded), got); diff != "" {
			rt.Fatalf("%s became %s:\n%s", text, masked, diff)
		}
	})
}

// FuzzMask masks valid JSON to valid JSON in which no secret is left, and
// everything else without a panic.
func FuzzMask(f *testing.F) {
	f.Add(`{"pin":1,"a":[{"pin":"x\""}]}`)
	f.Add(`{"\u0070in":{"b":[]}} `)
	f.Add(`{"pin":`)
	f.Add(`"`)
	secrets := storage.Secrets{Symbols: []string{"pin"}}
	f.Fuzz(func(t *testing.T, text string) {
		masked := secrets.Mask("x", atom.FromJSON([]byte(text)))
		var before, after any
		if json.Unmarshal([]byte(text), &before) != nil {
			return
		}
		if err := masked.Decode(&after); err != nil {
			t.Fatalf("%q became %q: %v", text, masked, err)
		}
		if diff := cmp.Diff(mask(secrets, before), after); diff != "" {
			t.Fatalf("%q became %q:\n%s", text, masked, diff)
		}
	})
}
