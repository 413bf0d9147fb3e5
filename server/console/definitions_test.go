package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDefinitions lists two versions of a definition, shows one, and says how it differs from the other. What is in them
// is text.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	hashes := make([]string, 0, 2)
	for _, text := range []string{"{\n\"a\": 1,\n\"b\": 2\n}", "{\n\"a\": 1,\n\"b\": \"" + hostile + "\",\n\"c\": 3\n}"} {
		d, err := store.PutDefinition(t.Context(), storage.Definition{
			Hash: storage.DefinitionHash("m", "asl", []byte(text)), Name: "m", Language: "asl", Text: []byte(text),
		})
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, d.Hash)
	}
	h := console.New(store, console.Options{})
	if body := get(t, h, http.MethodGet, "/definitions").Body.String(); !strings.Contains(body, hashes[0]) || !strings.Contains(body, hashes[1]) {
		t.Errorf("the list is %s", body)
	}
	for address, want := range map[string]string{
		"/definition?hash=" + hashes[1]:                        `"c": 3`,
		"/definition?hash=" + hashes[1] + "&with=" + hashes[0]: `<span>  {` + "\n" + `</span><span>  "a": 1,` + "\n" + `</span><del>- "b": 2` + "\n" + `</del><ins>+ "b"`,
	} {
		w := get(t, h, http.MethodGet, address)
		if w.Code != http.StatusOK || !strings.Contains(html.UnescapeString(w.Body.String()), want) || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	for _, address := range []string{"/definition", "/definition?hash=x", "/definition?with=x&hash=" + hashes[0]} {
		if w := get(t, h, http.MethodGet, address); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
}
