package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDoctor lists first what is wrong, then what is a warning, then the rest in the order of the checks.
func TestDoctor(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	h := console.New(store, console.Options{Examine: func(_ context.Context, found func(console.Finding)) error {
		for _, f := range []console.Finding{
			{State: "ok", Says: "fourth"},
			{State: "warning", Says: "second"},
			{State: "ok", Says: "fifth"},
			{State: "wrong", Says: "first"},
			{State: "warning", Says: "third"},
		} {
			found(f)
		}
		return nil
	}})
	body := get(t, h, http.MethodGet, "/doctor").Body.String()
	for _, says := range []string{"first", "second", "third", "fourth", "fifth"} {
		_, after, ok := strings.Cut(body, ">"+says+"<")
		if !ok {
			t.Fatalf("%q is missing, or listed too early", says)
		}
		body = after
	}
}
