package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/server/sfn"
)

// load stores the given definitions. Those in the Amazon States Language become state machines. It returns what it did
// with each.
func (s subcommands) load(ctx context.Context, store backend.Store, machines *sfn.Server, w *serving) (
	loaded []string, err error,
) {
	g := w.given()
	load := machines.Load
	if g.again {
		load = machines.LoadAgain
	}
	for _, d := range g.deployed {
		if d.Language != definition.ASL || w.awsFlags.aws == off {
			if _, err := store.PutDefinition(ctx, d.Definition); err != nil {
				return nil, exit.DatabaseError(err)
			}
			loaded = append(loaded, d.Name)
			continue
		}
		done, err := load(ctx, &d.Definition, d.Express())
		if refused, ok := errors.AsType[*sfn.LoadError](err); ok {
			s.Noticef("warning: %s is no state machine of AWS's API: %v", d.Name, refused)
			done, err = "stored", nil
		}
		if err != nil {
			return nil, exit.DatabaseError(err)
		}
		if done == sfn.LoadedOlder {
			s.Logger().Warn(logevent.DefinitionOlder, "flow", d.Name)
		}
		loaded = append(loaded, fmt.Sprintf("%s (%s)", d.Name, done))
	}
	more, err := s.loadTemplates(ctx, store, machines, w)
	return append(loaded, more...), err
}

// announce says what is served, where, and what was loaded.
func (s subcommands) announce(ctx context.Context, store backend.Store, w *serving, loaded []string) error {
	owners, err := store.Owners(context.WithoutCancel(ctx)) // a stop now is one in order
	if err != nil {
		return exit.DatabaseError(err)
	}
	switch {
	case w.url == "":
		s.Noticef("serving")
	case w.awsFlags.aws == off:
		s.Noticef("serving on %s (without AWS's API); console at %s", w.url, consolePath)
	default:
		s.Noticef("serving on %s (the endpoint of AWS's API; account %s, region %s); console at %s", w.url,
			w.aws.sfn.Account.ID, w.aws.sfn.Account.Region, consolePath)
	}
	database := redact.URL(s.DSN)
	if s.DSN == session.MemoryDSN {
		database = "none: all is gone when this process ends"
	}
	what := "no definitions"
	if len(loaded) > 0 {
		what = strings.Join(loaded, ", ")
	}
	s.Noticef("database: %s; loaded: %s", database, what)
	if names := w.functions.Names(); len(names) > 0 {
		s.Noticef("Lambda functions, which run on this machine as your user: %s", strings.Join(names, ", "))
	}
	for i := range owners {
		if o := &owners[i]; o.Alive && o.ID != store.Owner().ID {
			s.Noticef("process %d on %s uses the same database", o.PID, o.Host)
		}
	}
	if w.emulates {
		s.Noticef("Ready.")
	}
	return nil
}
