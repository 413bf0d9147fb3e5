package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/server"
)

// A stream tells a browser which of its pages have changed, and the browser then asks for these pages. It sends no
// contents: a browser that reads slowly, or was away, gets the present page and never a queue. The versions that a
// browser knows are the id of each event, so that a stream that is cut continues where it was.

const (
	streamName = "stream"         // last element of the path
	streamTime = 25 * time.Second // after which a stream ends, and the browser opens the next
	maxTopics  = 16               // pages of one browser
)

// A topic is a page whose changes a browser wants to know, such as "run?id=trip-7".
type topic struct {
	page     string
	operates bool // the page has forms
}

// serveStream sends an event whenever a topic has another version than the browser knows.
func (c *console) serveStream(w http.ResponseWriter, r *http.Request, v *visit) {
	pages := v.query["on"]
	if len(pages) == 0 || len(pages) > maxTopics {
		http.Error(w, fmt.Sprintf("want 1 to %d pages, as on=PAGE", maxTopics), http.StatusBadRequest)
		return
	}
	end, ok := server.Poll(r.Context())
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many browsers are watching", http.StatusServiceUnavailable)
		return
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), streamTime)
	defer cancel()
	stopping := server.Stopping(ctx)
	known := knownVersions(r.Header.Get("Last-Event-ID"))
	var watched []*watcher
	for _, page := range slices.Compact(slices.Sorted(slices.Values(pages))) {
		one, ok := c.watch(topic{page, v.operates}, v) //nolint:contextcheck // others may watch the page, too
		if !ok {
			http.Error(w, "this page cannot be watched, or too many are", http.StatusNotFound)
			return
		}
		defer c.unwatch(one)
		watched = append(watched, one)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass events on at once
	flow := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && flow.Flush() == nil
	}
	if !send("retry: 50\n\n") {
		return
	}
	for {
		changed := c.changes()
		var fresh []string
		for _, one := range watched {
			if version := one.version(); version != "" && known[one.page] != version {
				known[one.page] = version
				fresh = append(fresh, one.page)
			}
		}
		if len(fresh) > 0 {
			id, _ := json.Marshal(known) // texts are always JSON
			data, _ := json.Marshal(fresh)
			if !send("id: %s\ndata: %s\n\n", id, data) {
				return
			}
		}
		select {
		case <-changed:
		case <-stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

// knownVersions returns the versions that the id of the last event contains. A forged id has none.
func knownVersions(id string) map[string]string {
	const maxID = 16 << 10
	known := map[string]string{}
	if len(id) > maxID || json.Unmarshal([]byte(id), &known) != nil || known == nil {
		return map[string]string{}
	}
	return known
}

// Watching is shared: a page that many browsers show is looked at once.

const (
	runPause    = 100 * time.Millisecond // between two looks at a run
	pagePause   = time.Second            // between two looks at another page
	maxWatchers = 200                    // pages that are watched at the same time
)

// A watcher looks for changes of a page.
type watcher struct {
	topic

	users int // guarded by watchers.mu
	stop  context.CancelFunc

	mu  sync.Mutex
	now string // the present version; "" until the first look
}

func (w *watcher) version() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// watchers are the pages that browsers watch.
type watchers struct {
	mu      sync.Mutex
	all     map[topic]*watcher
	changed chan struct{} // closed when the version of a page changes
}

// changes returns a channel that is closed with the next change of any page.
func (ws *watchers) changes() <-chan struct{} {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.changed
}

func (ws *watchers) tell() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(ws.changed)
	ws.changed = make(chan struct{})
}

// watch begins to watch a page, unless it is watched already. ok is false if it cannot be watched.
func (c *console) watch(t topic, v *visit) (w *watcher, ok bool) {
	look, pause, ok := c.looker(t, v)
	if !ok {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.all[t]; w != nil {
		w.users++
		return w, true
	}
	if len(c.all) >= maxWatchers {
		return nil, false
	}
	ctx, stop := context.WithCancel(context.Background()) // it outlives the request that began it
	w = &watcher{topic: t, users: 1, stop: stop}
	c.all[t] = w
	go c.keepLooking(ctx, w, look, pause)
	return w, true
}

// unwatch ends the watching of a page if no other browser watches it.
func (c *console) unwatch(w *watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.users--; w.users == 0 {
		w.stop()
		delete(c.all, w.topic)
	}
}

// keepLooking looks at a page again and again. While the database does not answer, the page stays as it was.
func (c *console) keepLooking(
	ctx context.Context, w *watcher, look func(context.Context) (string, error), pause time.Duration,
) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		version, err := look(ctx)
		w.mu.Lock()
		changed := err == nil && version != w.now
		if changed {
			w.now = version
		}
		w.mu.Unlock()
		if changed {
			c.tell()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// looker returns what finds the version of a page, and how often.
func (c *console) looker(t topic, v *visit) (look func(context.Context) (string, error), pause time.Duration, ok bool) {
	at, err := url.Parse(t.page)
	if err != nil || at.IsAbs() || at.Host != "" {
		return nil, 0, false
	}
	name, query := strings.TrimPrefix(at.Path, "./"), at.Query()
	if name == "run" {
		id := query.Get("id")
		return func(ctx context.Context) (string, error) {
			run, err := c.store.Run(ctx, id)
			return fmt.Sprint(run.Seq, " ", run.State, " ", run.Owner, " ", run.Wakeups), err
		}, runPause, true
	}
	i := slices.IndexFunc(c.pages, func(p page) bool { return p.name == name && p.live })
	if i < 0 {
		return nil, 0, false
	}
	seen := *v
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, pageTime)
		defer cancel()
		of := seen
		of.query, of.now = query, c.store.Now().UTC().Truncate(time.Minute) // ages alone are no change
		body, err := c.pages[i].read(c, ctx, &of)
		if err != nil {
			return "", err
		}
		return hashOf(body), nil
	}, pagePause, true
}
