package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// jobFlags are the flags that describe a job.
type jobFlags struct {
	input    string
	priority int
	needs    []string
	labels   []string
}

func (f *jobFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.input, "input", "i", "", "input of the run: JSON, @FILE, or - for standard input (default {})")
	flags.IntVar(&f.priority, "priority", 0, "priority: larger ones are claimed first")
	flags.StringArrayVar(&f.needs, "needs", nil, "offer that a process needs to run the job, KEY=VALUE; may be repeated")
	flags.StringArrayVar(&f.labels, "label", nil,
		"label of the run, for queries and limits, KEY=VALUE; may be repeated")
}

// job returns the job that runs a FILE or FLOW[@VERSION]. The caller stores the argument, which determines the
// version.
func (s subcommands) job(text string, f *jobFlags) (job jobs.Job, what *flowArgument, err error) {
	job.Priority = f.priority
	if job.Labels, err = session.ParseLabels("needs", f.needs); err != nil {
		return job, nil, err
	}
	if job.RunLabels, err = session.ParseLabels("label", f.labels); err != nil {
		return job, nil, err
	}
	if job.Input, err = s.Input(f.input); err != nil {
		return job, nil, err
	}
	if what, err = s.flowArgument(text); err == nil {
		job.Flow = what.name
	}
	return job, what, err
}

// A flowArgument is FILE or FLOW[@VERSION].
type flowArgument struct {
	text    string
	name    string
	version int64                    // 0 means the current one
	defs    []*definition.Definition // of a file: the definition, and then the definitions that it runs
}

func (s subcommands) flowArgument(text string) (*flowArgument, error) {
	w := &flowArgument{text: text, name: text}
	if _, err := os.Stat(text); err == nil {
		deployed, err := s.Deployed([]string{text})
		if err == nil {
			err = deployed.Broken
		}
		if err != nil {
			return nil, err
		}
		w.defs = deployed.Definitions
		w.name = w.defs[0].Name
		return w, nil
	}
	var err error
	w.name, w.version, err = cutVersion(text)
	return w, err
}

// withFlow calls f with the store. A flow that is not in files is in a database that exists.
func (s subcommands) withFlow(ctx context.Context, w *flowArgument, f func(*sqlstore.Store) error) error {
	if len(w.defs) == 0 {
		return s.WithExisting(ctx, f)
	}
	return s.WithStore(ctx, f)
}

// store stores the definitions of a file and returns the version of the first one. If the argument is a FLOW that
// is not stored, store returns an error.
func (w *flowArgument) store(ctx context.Context, store backend.Store) (version int64, err error) {
	for i, d := range w.defs {
		stored, err := store.PutDefinition(ctx, d.Definition)
		if err != nil {
			return 0, exit.DatabaseError(err)
		}
		if i == 0 {
			version = stored.Version
		}
	}
	if len(w.defs) > 0 {
		return version, nil
	}
	_, err = backend.FindDefinition(ctx, store, w.name, w.version)
	if err == nil {
		return w.version, nil
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return 0, exit.DatabaseError(err)
	}
	err = fmt.Errorf("there is neither a file %s nor a stored definition of that name (ebb serve and ebb post store "+
		"those in files)", w.text)
	return 0, &exit.Error{Status: exit.NotFound, Err: err}
}
