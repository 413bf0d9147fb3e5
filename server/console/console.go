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

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// A Machine is what the console needs of the definition of a run.
type Machine interface {
	// Picture returns the diagram of the machine.
	Picture(title string) draw.View
	// Became returns the picture with what became of it, by a run's history.
	Became(picture draw.View, history iter.Seq2[storage.Entry, error]) (draw.View, error)
	// Tracer returns what follows a run through the states; nil if the run's atoms tell all.
	Tracer() grow.Tracer
	// Waits returns what a run waits for apart from its atoms; nil if there is nothing.
	Waits(run *storage.Run) *grow.Waiting
	// Handlers returns the errors that the retriers and the catchers of a state name.
	Handlers(state string) (retries, catches [][]string)
}

// Options set what a console shows. The zero Options are useful.
type Options struct {
	// Machine returns the machine of a run. An error means that the definition is not known here. If Machine is nil, a
	// run of a definition has no graph; that of a flow in Go has the one that the engine stored.
	Machine func(ctx context.Context, run *storage.Run) (Machine, error)
	// Define returns the machine of a stored definition. If it is nil, definitions have no picture.
	Define func(ctx context.Context, d *storage.Definition) (Machine, error)
	// Examine checks the database, and reports each finding. If it is nil, there is no such page.
	Examine func(ctx context.Context, report func(Finding)) error
	// Commands is the REST API, see package api. With it the pages have forms for all commands, which go to it. The
	// caller of a request must be one that may operate, see [server.WithCaller]. If it is nil, the pages only read.
	Commands server.Commands
	Log      hclog.Logger // nil means no log
}

//go:embed static
var files embed.FS

// policy is the content security policy of all pages. Their one script is the console's own.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ebb"

// pageTime is how long a page may take.
const pageTime = 20 * time.Second

// A console answers requests for pages.
type console struct {
	store backend.Store
	o     Options
	pages []page
	files map[string]asset // by address
	sheet string           // address of the style sheet

	script    string // of all pages
	runScript string // of the levels of a run
	zooms     string // of pages with a picture that can be zoomed
	editor    string // address of the module of the editor

	operations []server.Operation // commands that have a form
	drafts     []server.Operation // what the editor asks of the API
	watchers                      // pages that browsers watch
	levels     inspect.Levels     // of runs in the store
	undos      inspect.Undos      // likewise
	unasked    unasked
	icon       string
}

// New returns the pages of a store. The handler serves below any path that ends with a slash: it looks at the last
// element of the path only, and its links are relative. Who may see the pages is for the caller to decide.
func New(store storage.Store, o Options) http.Handler {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.Log = o.Log.Named("console")
	c := &console{store: backend.Of(store), o: o, pages: pages(), files: map[string]asset{}}
	if o.Commands != nil {
		c.operations, c.drafts = o.Commands.Operations(), o.Commands.Drafts()
	}
	c.sheet = c.addFile("console.css", "text/css; charset=utf-8", draw.SVGStyle()+chartStyle)
	c.script = c.addFile("live.js", "text/javascript; charset=utf-8", "\n"+embedded("times.js"))
	c.editor = c.add("editor.js", "text/javascript; charset=utf-8",
		strings.Replace(embedded("editor.js"), "./live.js", "./"+c.script, 1))
	c.runScript = c.addFile("run.js", "text/javascript; charset=utf-8", "")
	c.zooms = c.addFile("picture.js", "text/javascript; charset=utf-8", "")
	c.all, c.changed = map[topic]*watcher{}, make(chan struct{})
	c.icon = c.addFile("icon.svg", "image/svg+xml", "")
	return c
}

// ServeHTTP implements [http.Handler].
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer a browser sends forms from the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	v := &visit{
		query: r.URL.Query(), now: c.store.Now().UTC(), zooms: c.zooms,
	}
	v.caller, _ = server.CallerOf(r.Context())
	v.operates = c.o.Commands != nil && v.caller.Operate
	v.windowed = r.Header.Get(windowedHeader) != ""
	name := ""
	if !strings.HasSuffix(r.URL.Path, "/") {
		name = path.Base(r.URL.Path)
	}
	if id := trialOf(r.URL.Path); id != "" && len(c.drafts) > 0 {
		store, there := c.o.Commands.Trials().Of(v.caller.Name, id)
		if !there {
			name = trialPath // there is no such page
		}
		c, v.home, v.operates = c.within(store), outOfTrial, false
	}
	switch {
	case http.NewCrossOriginProtection().Check(r) != nil: // the program's own login may be a cookie or a password
		http.Error(w, "the form came from a page of another site: open the console itself", http.StatusForbidden)
		return
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
	case r.Method == http.MethodPost && (name == commandPage || name == editPage) && v.operates:
	default:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this page only reads: want GET", http.StatusMethodNotAllowed)
		return
	}
	if file, is := c.files[name]; is {
		file.serve(w)
		return
	}
	if name == streamName && r.Method == http.MethodGet && v.home == "" {
		c.serveStream(w, r, v)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageTime)
	defer cancel()
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodPost {
		if to := c.posted(ctx, v, w, r, name); to != "" {
			http.Redirect(w, r, string(to), http.StatusSeeOther) //nolint:gosec // an address leads to the console
			return
		}
	}
	c.answer(ctx, w, name, v)
}
