package console

import (
	"context"
	"path"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A definition that was tried has a run in memory. Its pages are those of any run, below the path trial/ID/, and read
// the store of the trial. Only the caller who tried the definition sees them, see [server.Trials].

// trialPath begins the path of a trial.
const trialPath = "trial"

// outOfTrial leads from a page of a trial to the pages of the database.
const outOfTrial = "../../"

const mostTried = 100 // states of a trial beside the editor

// A tried definition is what the API says of a trial.
type tried struct {
	Trial string
	Run   struct {
		Run, State string
	}
	Waiting bool
	Entered []string
	Took    string
}

// node says how a trial went; nothing of a nil one.
func (t *tried) node() node {
	if t == nil {
		return el("div", attr("id", "tried"), attr("role", "status"))
	}
	shown := t.Entered[:min(len(t.Entered), mostTried)]
	return el("div", attr("id", "tried"), attr("role", "status"), el("div", class("told"),
		el("p", say("Tried: {0} after {1} of virtual time.", chip(t.Run.State), words(t.Took)),
			when(t.Waiting, words(" "), say("The run still waits.")), words(" "),
			el("a", href(link(trialPath+"/"+t.Trial+"/run", "id", t.Run.Run, "view", "graph")), attr("target", "_blank"),
				say("See its run, in a new tab"))),
		when(len(shown) > 0, el("p", say("It entered: {0}", words(strings.Join(shown, " → ")))))))
}

// trialOf returns the id of the trial that a path of a page names; "" if it names none.
func trialOf(page string) string {
	dir, _ := path.Split(page)
	parent, id := path.Split(strings.TrimSuffix(dir, "/"))
	if path.Base(parent) != trialPath {
		return ""
	}
	return id
}

// within returns the pages of a trial. They only read, and nothing changes in them.
func (c *console) within(store backend.Store) *console {
	in := &console{
		store: store, pages: c.pages, sheet: c.sheet, script: c.script, runScript: c.runScript,
		icon: c.icon,
		o:    Options{Log: c.o.Log, Define: c.o.Define},
	}
	if c.o.Define != nil {
		in.o.Machine = func(ctx context.Context, run *storage.Run) (Machine, error) {
			d, err := store.Definition(ctx, run.Definition)
			if err != nil {
				return nil, err
			}
			return c.o.Define(ctx, &d)
		}
	}
	return in
}
