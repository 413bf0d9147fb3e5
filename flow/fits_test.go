package flow

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// TestFits shows between which types a value may go: those that are encoded
// alike. Types with a JSON of their own, and those that are not known, fit all.
func TestFits(t *testing.T) {
	t.Parallel()
	type size int
	type object struct{ A int }
	for _, c := range []struct {
		from, into reflect.Type
		want       bool
	}{
		{reflect.TypeFor[int](), reflect.TypeFor[int](), true},
		{reflect.TypeFor[int](), reflect.TypeFor[float64](), true},
		{reflect.TypeFor[int](), reflect.TypeFor[size](), true},
		{reflect.TypeFor[int](), reflect.TypeFor[*int](), true},
		{reflect.TypeFor[**int](), reflect.TypeFor[int](), true},
		{reflect.TypeFor[int](), reflect.TypeFor[string](), false},
		{reflect.TypeFor[int](), reflect.TypeFor[bool](), false},
		{reflect.TypeFor[bool](), reflect.TypeFor[bool](), true},
		{reflect.TypeFor[string](), reflect.TypeFor[[]byte](), true},
		{reflect.TypeFor[string](), reflect.TypeFor[[]string](), false},
		{reflect.TypeFor[[]int](), reflect.TypeFor[[3]int](), true},
		{reflect.TypeFor[object](), reflect.TypeFor[map[string]int](), true},
		{reflect.TypeFor[object](), reflect.TypeFor[[]int](), false},
		{reflect.TypeFor[any](), reflect.TypeFor[string](), true},
		{reflect.TypeFor[string](), reflect.TypeFor[any](), true},
		{reflect.TypeFor[atom.Value](), reflect.TypeFor[int](), true},
		{reflect.TypeFor[object](), reflect.TypeFor[json.RawMessage](), true},
		{reflect.TypeFor[time.Time](), reflect.TypeFor[string](), true},
		{reflect.TypeFor[netip.Addr](), reflect.TypeFor[string](), true},
		{reflect.TypeFor[netip.Addr](), reflect.TypeFor[object](), false},
		{reflect.TypeFor[chan int](), reflect.TypeFor[chan int](), true},
		{reflect.TypeFor[chan int](), reflect.TypeFor[chan bool](), false},
		{nil, reflect.TypeFor[object](), true},
		{reflect.TypeFor[object](), nil, true},
	} {
		if got := fits(c.from, c.into); got != c.want {
			t.Errorf("%v into %v: %t, want %t", c.from, c.into, got, c.want)
		}
	}
}

// TestDidYouMean shows how near a name must be to be offered.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	candidates := []string{"image", "network_id", "volume_id"}
	for name, want := range map[string]string{
		"volumeid": "volume_id", "volume-id": "volume_id", "imag": "image", "imgae": "image", "network": "network_id",
		"server": "", "x": "", "": "",
	} {
		text := ""
		if want != "" {
			text = ` (did you mean "` + want + `"?)`
		}
		if got := didYouMean(name, candidates); got != text {
			t.Errorf("%q: %q, want %q", name, got, text)
		}
	}
}
