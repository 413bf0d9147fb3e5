package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/sfn"
)

// loadTemplates adds what the templates have beside machines: activities, versions, aliases and schedules. It returns
// what it added.
func (s subcommands) loadTemplates(ctx context.Context, store backend.Store, machines *sfn.Server, w *serving) (
	loaded []string, err error,
) {
	g := w.given()
	for _, p := range g.projects {
		for _, t := range p.Templates {
			if w.awsFlags.aws == on {
				if err := loadNames(ctx, machines, t); err != nil {
					return nil, fmt.Errorf("%s: %w", t.File, exit.DatabaseError(err))
				}
			}
			for i := range t.Schedules {
				if err := s.loadSchedule(ctx, store, &t.Schedules[i], w, &g); err != nil {
					return nil, err
				}
			}
			loaded = append(loaded, told(t)...)
		}
	}
	return loaded, nil
}

// told returns what a template has beside machines and functions.
func told(t *definition.Template) (all []string) {
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{len(t.Activities), "activity", "activities"},
		{len(t.Aliases), "alias", "aliases"},
		{len(t.Schedules), "schedule", "schedules"},
		{len(t.Rules), "rule", "rules"},
	} {
		switch of.n {
		case 0:
		case 1:
			all = append(all, "1 "+of.one)
		default:
			all = append(all, fmt.Sprintf("%d %s", of.n, of.many))
		}
	}
	return all
}

// loadNames adds activities, versions and aliases of a template.
func loadNames(ctx context.Context, machines *sfn.Server, t *definition.Template) error {
	for _, name := range t.Activities {
		if err := machines.LoadActivity(ctx, name); err != nil {
			return err
		}
	}
	for _, v := range t.Versions {
		if err := machines.LoadVersion(ctx, v.Machine, ""); err != nil {
			return err
		}
	}
	for _, a := range t.Aliases {
		if err := machines.LoadVersion(ctx, a.Machine, a.Name); err != nil {
			return err
		}
	}
	return nil
}

// version returns the version of a machine's definition that jobs ask for: 0, the newest, unless a file has got an
// older text again.
func (g *given) version(ctx context.Context, store backend.Store, machine string) (int64, error) {
	if !g.again {
		return 0, nil
	}
	for _, d := range g.deployed {
		if d.Name != machine {
			continue
		}
		newest, err := backend.FindDefinition(ctx, store, machine, 0)
		if err != nil || newest.Hash == d.Hash {
			return 0, err
		}
		stored, err := store.PutDefinition(ctx, d.Definition)
		return stored.Version, err
	}
	return 0, nil
}

// loadSchedule adds a schedule of a template. If it is paused there, it is paused; an emulator resumes others, too.
func (s subcommands) loadSchedule(ctx context.Context, store backend.Store, of *template.Schedule, w *serving, g *given,
) error {
	if !json.Valid([]byte(of.Input)) {
		return exit.Usagef("the input of the schedule %s is not JSON", of.Name)
	}
	version, err := g.version(ctx, store, of.Machine)
	if err != nil {
		return exit.DatabaseError(err)
	}
	board := jobs.New(store, jobs.Policy{})
	err = board.AddSchedule(s.Audited(ctx, "add", "schedule "+of.Name), jobs.Schedule{
		ID: of.Name, Spec: of.Spec, Job: jobs.Job{Flow: of.Machine, Version: version, Input: json.RawMessage(of.Input)},
	})
	if err != nil {
		return exit.Usagef("the schedule %s: %w", of.Name, err)
	}
	if of.Paused || w.emulates {
		err = board.PauseSchedule(s.Audited(ctx, "pause", "schedule "+of.Name), of.Name, of.Paused)
	}
	return exit.DatabaseError(err)
}
