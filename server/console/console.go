package console

import (
	"context"
	"embed"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// A Machine is what the console needs of the definition of a run.
type Machine interface {
	// Picture returns the diagram of the machine.
	Picture(title string) draw.View
	// Became returns the picture with what became of it, by a run's history.
	Became(picture draw.View, history iter.Seq2[storage.Entry, error]) (draw.View, error)
	// Tracer returns what follows a run through the states; nil if the run's atoms tell all.
	Tracer() flow.Tracer
	// Waits returns what a run waits for apart from its atoms; nil if there is nothing.
	Waits(run *storage.Run) *flow.Waiting
	// Handlers returns the errors that the retriers and the catchers of a state name.
	Handlers(state string) (retries, catches [][]string)
}

// Options set what a console shows. The zero Options are useful.
type Options struct {
	// Machine returns the machine of a run. An error means that the definition is not known here. If Machine is nil, a
	// run of a definition has no graph; that of a flow in Go has the one that the engine stored.
	Machine func(ctx context.Context, run *storage.Run) (Machine, error)
	Log     hclog.Logger // nil means no log
}

//go:embed static
var files embed.FS

// policy is the content security policy of all pages. They have no script.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// pageTime is how long a page may take.
const pageTime = 20 * time.Second

// A console answers requests for pages.
type console struct {
	store storage.Store
	o     Options
	pages []page
	files map[string]asset // by address
	sheet string           // address of the style sheet
	icon  string
}

// New returns the pages of a store. The handler serves below any path that ends with a slash: it looks at the last
// element of the path only, and its links are relative. Who may see the pages is for the caller to decide.
func New(store storage.Store, o Options) http.Handler {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	c := &console{store: store, o: o, pages: pages(), files: map[string]asset{}}
	c.sheet = c.addFile("console.css", "text/css; charset=utf-8", draw.SVGStyle())
	c.icon = c.addFile("icon.svg", "image/svg+xml", "")
	return c
}

// ServeHTTP implements [http.Handler].
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the console only reads: want GET", http.StatusMethodNotAllowed)
		return
	}
	name := ""
	if !strings.HasSuffix(r.URL.Path, "/") {
		name = path.Base(r.URL.Path)
	}
	if file, is := c.files[name]; is {
		file.serve(w)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	h.Set("Cache-Control", "no-store")
	c.answer(ctx, w, name, &visit{query: r.URL.Query(), now: time.Now().UTC()})
}
