package main

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// runFlags are the flags of ebb run.
type runFlags struct {
	id      string
	input   string
	expect  string
	mock    string
	tasks   []string
	buckets []string
	labels  []string
	strict  bool
	trace   string
	also    []string
	mocked  string
	detach  bool
}

// restStates are the states that a run may come to rest in.
var restStates = []string{"SUCCESS", "FAILURE", "REVERTED", "SUSPENDED"}

func (s *session) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a definition, or go on with a run of it",
		Long: `Run a definition in the Amazon States Language or SM4C, which its content tells, to its
end, or until it is undone. A subflow of SM4C, or a machine that startExecution names, is
the file of that name beside it, such as pay.sm4c.json for pay, or one that --also names. What the run begins and does not wait for is seen to its end.

With --id a run of that id is begun, or gone on with when there is one. While another
process runs it, it is followed to its end; Ctrl-C ends the following, and when that
process dies this one goes on with the run.

Ctrl-C suspends the run; pressed again what runs is cut off. Either way the run is
suspended, and ebb resume goes on with it.

With --detach the run is only made, and its id told: whoever serves the database (ebb
serve) drives it, with the tasks that are given here.

Exit status: 0 SUCCESS or as expected, 1 FAILURE, 2 not startable, 3 REVERTED,
4 could not be undone, 5 suspended or stopped, 6 not found, 7 no database.`,
		Example: `  ebb run trip.asl.json --input '{"to": "Rome"}'
  ebb run --expect REVERTED trip.asl.json
  ebb run --mock mocks.json --case paid trip.asl.json
  id=$(ebb run --detach trip.asl.json)
  ebb run --bucket orders=./orders nightly.asl.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "id of the run (default the flow's name and a random end)")
	flags.StringVarP(&f.input, "input", "i", "", "input: JSON, @FILE, or - for standard input (default {})")
	flags.StringVar(&f.expect, "expect", "", "exit with 0 when the run comes to rest in this state, "+strings.Join(restStates, ", "))
	flags.BoolVar(&f.detach, "detach", false, "only make the run, for whoever serves the database, and tell its id")
	flags.StringVar(&f.mock, "mock", "", "answer for states from a mock file of Step Functions Local, FILE#case")
	flags.StringVar(&f.mocked, "case", "", "the test case of the mock file")
	flags.StringArrayVar(&f.also, "also", nil, "a definition that the run may begin runs of; may be repeated")
	flags.StringArrayVar(&f.tasks, "task", nil, "what a resource stands for, NAME=RESOURCE, such as ARN=exec:./pay.sh")
	flags.StringArrayVar(&f.buckets, "bucket", nil, "the folder that a distributed Map's bucket is, NAME=DIR; may be repeated")
	flags.StringArrayVar(&f.labels, "label", nil, "what to find the run by, KEY=VALUE; may be repeated")
	traceFlag(flags, &f.trace)
	flags.BoolVar(&f.strict, "strict", false, "refuse what Ebb adds to the language")
	return cmd
}

func (f *runFlags) check() error {
	if f.detach && f.expect != "" {
		return usagef("--expect goes without --detach, which does not wait for the run's end")
	}
	return oneOf("expect", f.expect, restStates)
}

func (s *session) run(ctx context.Context, file string, f *runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	how, err := s.howToRead(file)
	if err != nil {
		return err
	}
	how.Strict = f.strict
	def, err := definition.Read(file, how)
	if err != nil {
		return err
	}
	for _, w := range def.Source.Placed(def.Machine.Problems()) {
		s.noticef("warning: %v", w)
	}
	input, err := s.input(f.input)
	if err != nil {
		return err
	}
	b, err := f.beginning(file)
	if err != nil {
		return err
	}
	registry, err := b.Registry(def.Name, s.fileMode == folderMode)
	if err != nil {
		return err
	}
	flows, err := s.flowsOf(file, def, how, f.also)
	if err != nil {
		return err
	}
	b.Flows = map[string]string{}
	for name, d := range flows {
		b.Flows[name] = d.Hash
	}
	var machines []definition.Machine
	for _, d := range flows {
		machines = append(machines, d.Machine)
	}
	definition.CallREST(registry, machines)
	for _, d := range flows {
		if err := d.Check(registry); err != nil {
			return err
		}
	}
	id, err := f.runID(def.Name)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	opts = append(opts, engine.Input(input), engine.Attributes(b.Attributes()), engine.OnDefinition(def.Hash))
	return s.withStore(ctx, func(store storage.Store) error {
		run, err := store.Run(ctx, id)
		if err == nil && run.Definition != def.Hash {
			return usagef("run %s was begun on another definition than %s is now (ebb resume %s goes on with it; another --id begins anew)", id, file, id)
		}
		for _, d := range flows {
			if _, err := store.PutDefinition(ctx, d.Definition); err != nil {
				return unreachable(err)
			}
		}
		j := runSession{session: s, store: store, machine: def.Machine, flow: def.Name, id: id, tasks: registry, aim: expect(f.expect)}
		if f.detach {
			return j.leave(ctx, opts)
		}
		if err == nil {
			if err := j.recall(ctx, &run); err != nil {
				return err
			}
		}
		return j.make(ctx, func(ctx context.Context, eng *engine.Engine, show view.Reporter) (*engine.Result, error) {
			f := follower{runSession: &j, show: show, told: run.Entries}
			return f.along(ctx, eng, opts)
		})
	})
}

// options returns what flags say of the run itself.
func (f *runFlags) options() ([]engine.RunOption, error) {
	labels, err := parseLabels(f.labels)
	if err != nil {
		return nil, err
	}
	trace, err := traceparent(f.trace)
	if err != nil {
		return nil, err
	}
	opts := []engine.RunOption{engine.Labels(labels)}
	if trace != "" {
		opts = append(opts, engine.Trace(trace))
	}
	return opts, nil
}

// runID returns the id that the run is to have.
func (f *runFlags) runID(flow string) (string, error) {
	switch {
	case f.id == "":
		return flow + "-" + strings.ToLower(rand.Text()[:8]), nil
	case len(f.id) > storage.MaxID:
		return "", usagef("--id %.20s…: an id has at most %d bytes", f.id, storage.MaxID)
	}
	return f.id, definition.CheckName("--id", f.id)
}

// beginning returns what the flags say about the run that is kept with it.
func (f *runFlags) beginning(file string) (definition.Beginning, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return definition.Beginning{}, err
	}
	b := definition.Beginning{Dir: dir}
	for _, text := range f.tasks {
		name, resource, ok := strings.Cut(text, "=")
		if !ok || name == "" || resource == "" {
			return b, usagef("--task %s: want NAME=RESOURCE, such as arn:aws:lambda:…:Pay=exec:./pay.sh", text)
		}
		if b.Tasks == nil {
			b.Tasks = map[string]string{}
		}
		b.Tasks[name] = resource
	}
	for _, text := range f.buckets {
		name, folder, ok := strings.Cut(text, "=")
		if !ok || name == "" || folder == "" {
			return b, usagef("--bucket %s: want NAME=DIR, such as orders=./orders", text)
		}
		if folder, err = filepath.Abs(folder); err != nil {
			return b, err
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return b, usagef("--bucket %s: there is no folder %s", text, folder)
		}
		if b.Buckets == nil {
			b.Buckets = map[string]string{}
		}
		b.Buckets[name] = folder
	}
	switch mock := f.mock; {
	case f.mocked != "" && (mock == "" || strings.Contains(filepath.Base(mock), "#")):
		return b, usagef("--case %s: want --mock FILE beside it, without #case", f.mocked)
	case f.mocked != "":
		f.mock += "#" + f.mocked
	}
	if f.mock != "" {
		if b.Mock, err = filepath.Abs(f.mock); err != nil {
			return b, err
		}
	}
	return b, nil
}

// input returns the run's input as the flag says it.
func (s *session) input(flag string) (atom.Value, error) {
	if flag == "" {
		flag = "{}"
	}
	return s.value("--input", flag)
}
