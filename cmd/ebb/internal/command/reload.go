package command

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
)

// files are the files of definitions that a server is given, and what is in them.
type files struct {
	paths []string

	mu   sync.Mutex
	have given
}

// A given is what was last read from the files.
type given struct {
	deployed []*definition.Definition
	projects []*definition.Project // that have them
	broken   error                 // what could not be read
	own      map[string]bool       // the hashes of all definitions that were ever read: runs may still be on them
	again    bool                  // the files were read before
}

// given returns what was last read from the files.
func (w *serving) given() given {
	w.files.mu.Lock()
	defer w.files.mu.Unlock()
	return w.files.have
}

// read reads the files. If a definition has a mistake, what was read before stays.
func (f *files) read(s *session.Session) error {
	d, err := s.Deployed(f.paths)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, old := range f.have.deployed {
		if !slices.ContainsFunc(d.Definitions, func(d *definition.Definition) bool { return d.Name == old.Name }) {
			d.Definitions = append(d.Definitions, old)
		}
	}
	own := map[string]bool{}
	maps.Copy(own, f.have.own)
	for _, def := range d.Definitions {
		own[def.Hash] = true
	}
	f.have = given{d.Definitions, d.Projects, d.Broken, own, f.have.deployed != nil}
	return nil
}

// judge returns an error if a definition cannot be used. An emulator serves the others, and says which are left out.
func (s subcommands) judge(w *serving) error {
	have := w.given()
	if !w.emulates {
		return have.broken
	}
	for _, p := range have.projects {
		for _, problem := range p.Unbuilt() {
			s.WarnOf(problem.File, problem)
		}
	}
	if have.broken != nil {
		s.Noticef("warning: left out: %v", have.broken)
	}
	return nil
}

const (
	// reloadEvery is how often an emulator looks whether a file has changed.
	reloadEvery = time.Second
	//limit:command files whose changes `ebb emulate` notices | {} | the others need a new start
	maxWatched = 10_000
)

// A stamp says which version of a file there is.
type stamp struct {
	changed time.Time
	size    int64
}

// schedules returns the names of the schedules of all templates.
func (g *given) schedules() map[string]bool {
	names := map[string]bool{}
	for _, p := range g.projects {
		for _, t := range p.Templates {
			for i := range t.Schedules {
				names[t.Schedules[i].Name] = true
			}
		}
	}
	return names
}

// removeSchedules removes the schedules that the templates do not have any more.
func (s subcommands) removeSchedules(ctx context.Context, store backend.Store, before, now map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now[name] {
			continue
		}
		ctx := s.Audited(ctx, "remove", "schedule "+name)
		err := jobs.New(store, jobs.Policy{}).RemoveSchedule(ctx, name)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return nil
}

// stamps returns the stamps of the files that were read.
func (g *given) stamps() map[string]stamp {
	all := map[string]stamp{}
	for _, p := range g.projects {
		for _, name := range p.Files {
			if info, err := os.Stat(name); err == nil && len(all) < maxWatched {
				all[name] = stamp{info.ModTime(), info.Size()}
			}
		}
	}
	return all
}

// follow loads the definitions again when their files change. A file with a mistake changes nothing, and the log says
// so once for each change.
func (s subcommands) follow(ctx context.Context, store backend.Store, machines *sfn.Server, w *serving) {
	if !w.emulates {
		return
	}
	have := w.given()
	seen := have.stamps()
	tick := time.NewTicker(reloadEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		have = w.given()
		now := have.stamps()
		if maps.Equal(seen, now) {
			continue
		}
		seen = now
		before := have.schedules()
		err := w.files.read(s.Session)
		var loaded []string
		if err == nil {
			loaded, err = s.load(ctx, store, machines, w)
		}
		if err == nil {
			err = w.functions.Set(s.runnable(w.given().projects))
		}
		have = w.given()
		failed := errors.Join(err, have.broken)
		if failed == nil {
			failed = s.removeSchedules(ctx, store, before, have.schedules())
		}
		if failed != nil {
			s.Logger().Error(logevent.DefinitionsReloadFailed, "error", failed)
		} else {
			s.Logger().Info(logevent.DefinitionsReloaded, "loaded", strings.Join(loaded, ", "))
		}
		maps.Copy(seen, have.stamps()) // a file that is read for the first time has not changed
	}
}
