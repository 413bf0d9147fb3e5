package interop_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTwoConsoles: two consoles in one program, below different paths, keep to themselves.
func TestTwoConsoles(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for name, run := range map[string]string{"a": tokenRun, "b": signalRun} {
		store := memstore.New()
		t.Cleanup(func() { _ = store.Close() })
		eng, err := engine.New(goFlows()[run], store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "run of "+name, engine.Unload()); err == nil {
			t.Fatal("it does not wait")
		}
		mux.Handle("/ops/"+name+"/", console.New(store, console.Options{}))
	}
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	b := open(t, look{1280, false, true})
	for name, other := range map[string]string{"a": "b", "b": "a"} {
		home := web.URL + "/ops/" + name + "/"
		pages, _ := crawl(t, home, 2, home) // it fails if a link leads elsewhere
		if len(pages) < 10 {
			t.Errorf("links lead to %q only", pages)
		}
		seen := false
		for _, address := range pages {
			b.visit(address)
			for _, p := range b.took() {
				t.Errorf("%s: %s", address, p)
			}
			for _, asked := range b.asked() {
				if !strings.HasPrefix(asked, home) {
					t.Errorf("%s asks for %s", address, asked)
				}
			}
			text := strings.Join(b.texts("main"), " ")
			seen = seen || strings.Contains(text, "run of "+name)
			if strings.Contains(text, "run of "+other) {
				t.Errorf("%s shows a run of the other console", address)
			}
			if style := eval[string](b, `getComputedStyle(document.querySelector(".brand")).fontWeight`); style != "700" {
				t.Errorf("%s has no style: %s", address, style)
			}
		}
		if !seen {
			t.Errorf("%s does not show its run", home)
		}
	}
}
