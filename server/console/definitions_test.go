package console_test

import (
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
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
			Hash: backend.DefinitionHash("m", "asl", []byte(text)), Name: "m", Language: "asl", Text: []byte(text),
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

// members is a machine whose states are the members of an object.
type members struct {
	console.Machine

	names []string
}

func (m members) Picture(string) draw.View {
	var v draw.View
	for _, name := range m.names {
		v.Nodes = append(v.Nodes, draw.Node{ID: "state " + name, Label: name})
	}
	return v
}

// TestVersions draws two versions as one graph, in which a text marks added, removed and changed parts. It counts the
// runs of each.
func TestVersions(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	hashes := make([]string, 0, 2)
	for _, text := range []string{`{"same":{"n":12345678901234567890},"changed":{"n":12345678901234567890},"removed":{}}`, `{"same":{"n":12345678901234567890},"changed":{"n":12345678901234567891},"added":{}}`} {
		d, err := store.PutDefinition(t.Context(), storage.Definition{
			Hash: backend.DefinitionHash("m", "l", []byte(text)), Name: "m", Language: "l", Text: []byte(text),
		})
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, d.Hash)
	}
	eng, err := engine.New(flow.Linear("m"), store)
	if err == nil {
		_, err = eng.Run(t.Context(), "of-the-first", engine.OnDefinition(hashes[0]))
	}
	if err != nil {
		t.Fatal(err)
	}
	h := console.New(store, console.Options{Define: func(_ context.Context, d *storage.Definition) (console.Machine, error) {
		var parts map[string]any
		err := json.Unmarshal(d.Text, &parts)
		return members{names: slices.Sorted(maps.Keys(parts))}, err
	}})
	body := get(t, h, http.MethodGet, "/definition?hash="+hashes[1]+"&with="+hashes[0]).Body.String()
	_, picture, _ := strings.Cut(body, "<svg")
	picture, _, _ = strings.Cut(picture, "</svg>")
	var marks []string
	for _, found := range regexp.MustCompile(`<title>(\w+)(?:\n(\w+))?</title>`).FindAllStringSubmatch(picture, -1) {
		marks = append(marks, strings.TrimSpace(found[1]+" "+found[2]))
	}
	slices.Sort(marks)
	if got := strings.Join(marks, ", "); got != "added ADDED, changed CHANGED, flow, removed REMOVED, same" {
		t.Errorf("the graph says %s in\n%s", got, picture)
	}
	for _, line := range []string{"<ins>+   &#34;added&#34;: {}", "<del>-     &#34;n&#34;: 12345678901234567890", `<span>    &#34;same&#34;: {`} {
		if !strings.Contains(body, line) { // of texts of one line, the lines of their members differ
			t.Errorf("the difference has no %s:\n%s", line, body)
		}
	}
	list := get(t, h, http.MethodGet, "/definitions").Body.String()
	for i, want := range []string{"runs: 1<", "runs: 0<"} {
		if !strings.Contains(list, hashes[i]+"\">"+want) {
			t.Errorf("version %d has no %q in\n%s", i+1, want, list)
		}
	}
}
