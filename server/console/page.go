package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// A visit is one request for a page.
type visit struct {
	query url.Values
	now   time.Time
	title node   // title of the page; pages of one thing set it
	topic string // address of the page, if a browser may watch it, see [topic]

	caller   server.Caller
	operates bool       // the pages have forms
	form     url.Values // the form that was sent; nil if none was
	part     bool       // a script wants only what is new
	windowed bool       // a script has the rows of the tree in a window, and asks for them itself
	home     string     // leads to the pages of the database; "" where they are
	problem  node       // why the command was not given
	status   int        // of an answer with a problem; 0 means 200
	page     string     // name of the page
	file     string     // the picture that is sent in place of the page; "" means that the page is sent
	script   string     // address of a script that the page has beside the one of all pages; "" if there is none
	zooms    string     // address of the script that zooms pictures
}

// A page is what answers at a name.
type page struct {
	name  string // last element of the path; "" is the first page
	title string
	menu  bool // is in the navigation
	live  bool // a browser may watch it
	read  func(*console, context.Context, *visit) (node, error)
}

// pages returns all pages, in the order of the navigation.
func pages() []page {
	return []page{
		{"", "Home", true, true, (*console).home},
		{"runs", "Runs", true, true, (*console).runs},
		{"run", "", false, true, (*console).runPage},
		{"steps", "", false, false, (*console).stepsPage},
		{"compare", "", false, false, (*console).compare},
		{"waiting", "Waiting", true, true, (*console).waiting},
		{"jobs", "Jobs", true, true, tablePage("Jobs", (*console).jobs)},
		{"schedules", "Schedules", true, true, tablePage("Schedules", (*console).schedules)},
		{"limits", "Limits", true, true, tablePage("Limits", (*console).limits)},
		{"definitions", "Definitions", true, true, (*console).definitions},
		{"definition", "", false, false, (*console).definition},
		{editPage, "", false, false, (*console).edit},
		{"processes", "Processes", true, true, tablePage("Processes", (*console).processes)},
		{"doctor", "Doctor", true, false, (*console).doctor},
		{"audit", "Audit", true, true, (*console).audit},
		{commandPage, "", false, false, (*console).dialog},
		{"login", "Log in", false, false, (*console).login},
	}
}

// answer writes the page of a name.
func (c *console) answer(ctx context.Context, w http.ResponseWriter, name string, v *visit) {
	err := storage.ErrNotFound
	var body node
	v.page = name
	for i := range c.pages {
		if p := &c.pages[i]; p.name == name {
			v.title = say(p.title)
			if body, err = p.read(c, ctx, v); err == nil && p.live && v.home == "" {
				v.topic = cmp.Or(p.name, "./")
				if q := seen(v.query); len(q) > 0 {
					v.topic += "?" + q.Encode()
				}
			}
		}
	}
	if err == nil && v.file != "" {
		v.sendFile(w)
		return
	}
	status := cmp.Or(v.status, http.StatusOK)
	if err != nil {
		status, body = c.problem(err, v)
		v.title = say("Problem")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language, "+windowedHeader)
	w.WriteHeader(status)
	body = fragment{body, cutNote{}}
	buffer := bufio.NewWriterSize(w, writtenAtOnce)
	out := writer{to: buffer, hides: !v.operates}
	out.put("<!doctype html>\n")
	if v.part && err == nil {
		body.write(&out)
	} else {
		c.layout(ctx, name, v, body).write(&out)
	}
	_ = buffer.Flush() // the client may have disconnected
}

// writtenAtOnce is how many bytes of a page are sent at a time.
const writtenAtOnce = 32 << 10

// windowedHeader is the header of a request whose page has the rows of a tree in a window.
const windowedHeader = "Ebb-Windowed"

// seen returns a query without what only the script of a tree reads, which changes while a person reads the page.
func seen(query url.Values) url.Values {
	q := maps.Clone(query)
	q.Del("open")
	q.Del("line")
	return q
}

// problem returns what a page says about an error.
func (c *console) problem(err error, v *visit) (status int, body node) {
	reason := "The database did not answer. The log of the server has the reason."
	status = http.StatusInternalServerError
	switch {
	case errors.Is(err, storage.ErrNotFound):
		status, reason = http.StatusNotFound, "There is no such page, run or atom. It may have been pruned."
	case errors.Is(err, context.DeadlineExceeded):
		reason = "The database took too long. Narrow the filter, or use ebb show."
	}
	if status != http.StatusNotFound {
		c.o.Log.Error(logevent.PageFailed, "error", err)
	}
	return status, fragment{
		el("h1", say("Problem")), el("p", say(reason)), el("p", el("a", href(address(v.home)+"runs"), say("All runs"))),
	}
}

// layout returns a whole page.
func (c *console) layout(ctx context.Context, name string, v *visit, body node) node {
	return el("html", attr("lang", "en"), attr("dir", "ltr"),
		el("head",
			el("meta", attr("charset", "utf-8")),
			el("meta", attr("name", "viewport"), attr("content", "width=device-width,initial-scale=1")),
			el("meta", attr("name", "color-scheme"), attr("content", "light dark")),
			el("title", say("{0} · Ebb", v.title)),
			el("link", attr("rel", "icon"), href(address(v.home+c.icon))),
			el("link", attr("rel", "stylesheet"), href(address(v.home+c.sheet))),
			el("script", attr("type", "module"), attr("src", v.home+c.script)),
			when(v.script != "", el("script", attr("type", "module"), attr("src", v.home+v.script)))),
		el("body",
			el("a", class("skip"), href("#main"), say("Skip to content")),
			el("header",
				el("a", class("brand"), href(address(v.home)+"./"), say("≈ Ebb")),
				el("nav", sayAttr("aria-label", "Pages"), each(c.pages, func(p *page) node {
					return when(p.menu, el("a", href(address(v.home+pagePath(p.name))),
						when(p.name == name, attr("aria-current", "page")), say(p.title)))
				})),
				who(v)),
			el("main", attr("id", "main"), when(v.topic != "", attr("data-topic", v.topic)),
				when(v.home != "", el("p", class("told"),
					say("This run was tried in memory. It called nothing, and is not stored."))),
				c.told(ctx, v), body), keys))
}

// pagePath returns the relative path of a page.
func pagePath(name string) string {
	if name == "" {
		return "./"
	}
	return name
}
