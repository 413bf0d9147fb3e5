package command

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage/sqlstore"
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
	key     string
	strict  bool
	trace   string
	also    []string
	mocked  string
	lambdas bool
	detach  bool
	arns    arnFlags
}

// restStates are the states that a run may come to rest in.
var restStates = []string{"SUCCESS", "FAILURE", "REVERTED", "SUSPENDED"}

func (s subcommands) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a definition, or resume a run of it",
		Long: `Run a definition in the Amazon States Language or SM4C until the run ends or is undone.
Ebb recognizes the language by the content of FILE. FILE may be a template of
CloudFormation, SAM, CDK or the Serverless Framework; FILE#MACHINE names one of several
machines. A subflow of SM4C, or a machine that
startExecution names, is the file of that name beside FILE, such as pay.sm4c.json for pay, or a file
that --also names, or the newest stored definition of that name. Ebb also drives runs that the run
starts and does not wait for.

With --id start a run with that id, or resume it if it exists. If another process drives
the run, follow it to its end. Ctrl-C then ends the following. If that process dies, this
process drives the run.

Ctrl-C suspends the run: running atoms may end, no new ones start. A second Ctrl-C also
cancels running atoms, which run again on resume. A third one, or SIGTERM, ends the process
at once, and writes nothing about the run. ebb resume resumes the run in each case, also
after SIGKILL or a power cut.

With --key at most one open run has the key. If another one has it, ebb refuses the run and
names the other.

With --detach only create the run and print its id. A process that serves the database
(ebb serve) drives it, with the tasks that are given here.

Exit status: 0 SUCCESS or as expected, 1 FAILURE, 2 not startable, 3 REVERTED,
4 undo failed, 5 suspended or stopped, 6 not found, 7 no database.`,
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
	flags.StringVar(&f.expect, "expect", "", "exit with 0 if the run comes to rest in this state, "+
		strings.Join(restStates, ", "))
	flags.BoolVar(&f.detach, "detach", false,
		"only create the run, for a process that serves the database, and print its id")
	flags.StringVar(&f.mock, "mock", "", "answer for states from a mock file of Step Functions Local, FILE#case")
	flags.StringVar(&f.mocked, "case", "", "the test case of the mock file")
	flags.StringArrayVar(&f.also, "also", nil, "file of a definition of which the run may start runs; may be repeated")
	flags.StringArrayVar(&f.tasks, "task", nil, "map a resource, NAME=RESOURCE, such as ARN=exec:./pay.sh")
	flags.StringArrayVar(&f.buckets, "bucket", nil,
		"folder for a bucket of a distributed Map, NAME=DIR; may be repeated")
	flags.StringArrayVar(&f.labels, "label", nil, "label of the run, KEY=VALUE; may be repeated")
	flags.StringVar(&f.key, "key", "", "key of the run: refuse it while another run with that key is open")
	traceFlag(flags, &f.trace)
	f.arns.register(flags)
	s.TemplateFlags(flags)
	flags.BoolVar(&f.lambdas, functionsFlag, false, functionsHelp)
	flags.BoolVar(&f.strict, "strict", false, "refuse Ebb's additions to the language")
	return cmd
}

func (f *runFlags) check() error {
	if f.detach && f.lambdas {
		return exit.Usagef("--functions goes without --detach: the process that drives the run calls the functions " +
			"(ebb serve --functions)")
	}
	if f.detach && f.expect != "" {
		return exit.Usagef("--expect goes without --detach, which does not wait for the run's end")
	}
	return session.OneOf("expect", f.expect, restStates)
}

func (s subcommands) run(ctx context.Context, file string, f *runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	how, err := s.HowToRead(file)
	if err != nil {
		return err
	}
	how.Strict = f.strict
	def, err := definition.Read(file, how)
	if err != nil {
		return err
	}
	s.Tell(def.Source.Project())
	for _, w := range def.Source.Placed(def.Machine.Problems()) {
		s.WarnOf(def.Name, w)
	}
	input, err := s.Input(f.input)
	if err != nil {
		return err
	}
	b, err := f.beginning(file)
	if err != nil {
		return err
	}
	registry, err := b.Registry(def.Name, s.FolderMode())
	if err != nil {
		return err
	}
	flows, err := s.FlowsOf(file, def, how, f.also)
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
	functions, also, err := s.functionsBeside(def, f.lambdas)
	if err != nil {
		return err
	}
	defer functions.Close()
	s.Services().Join(registry, machines...)
	if err := s.checkTasks(flows, registry, f.mock, also); err != nil {
		return err
	}
	id, err := f.runID(def.Name)
	if err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	names, err := f.arns.attributes(def.Name, id)
	if err != nil {
		return err
	}
	opts = append(opts, engine.Input(input), engine.Attributes(b.Attributes(names)), engine.OnDefinition(def.Hash))
	return s.WithStore(ctx, func(store *sqlstore.Store) error {
		run, err := store.Run(ctx, id)
		if err == nil && run.Definition != def.Hash {
			return exit.Usagef("run %s was begun on another definition than %s is now (ebb resume %s resumes it; "+
				"another --id begins anew)", id, file, visible.Word(id))
		}
		for _, d := range flows {
			if _, err := store.PutDefinition(ctx, d.Definition); err != nil {
				return exit.DatabaseError(err)
			}
		}
		d := drive.Driver{
			Session: s.Session, Store: store, Machine: def.Machine, Flow: def.Name, ID: id, Tasks: registry,
			Aim: exit.Expect(f.expect),
		}
		if f.detach {
			return d.Detach(ctx, opts)
		}
		if err == nil {
			if err := d.Recall(ctx, &run); err != nil {
				return err
			}
		}
		return d.RunOrFollow(ctx, run.Entries, opts)
	})
}

// checkTasks names all tasks of the flows that cannot be called. Without mocks they are an error. With mocks they
// are a notice: the run fails only if it reaches one of them. Also is what else the user can do.
func (s subcommands) checkTasks(flows map[string]*definition.Definition, registry *tasks.Registry, mock, also string,
) error {
	var lines []string
	var first string
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		missing, task := flows[name].Missing(registry)
		lines, first = append(lines, missing...), cmp.Or(first, task)
	}
	if len(lines) == 0 {
		return nil
	}
	if mock == "" {
		if _, name, is := strings.Cut(first, "${"); is {
			name, _, _ = strings.Cut(name, "}")
			return exit.Usagef("%s\n%sto fill a placeholder: --parameter '%s=VALUE'; to answer in place of states: "+
				"--mock FILE#CASE", strings.Join(lines, "\n"), also, name)
		}
		return exit.Usagef("%s\n%sto map a name: --task '%s=exec:./PROGRAM'; to answer in place of states: "+
			"--mock FILE#CASE", strings.Join(lines, "\n"), also, first)
	}
	for _, line := range lines {
		s.Noticef("warning: %s", line)
	}
	s.Noticef("a state of these fails if the run reaches it; add them to the case of %s, or map the tasks: "+
		"--task '%s=exec:./PROGRAM'", mock, first)
	return nil
}

// options returns the options of the run that the flags set.
func (f *runFlags) options() ([]engine.RunOption, error) {
	labels, err := session.ParseLabels("label", f.labels)
	if err != nil {
		return nil, err
	}
	trace, err := traceparent(f.trace)
	if err != nil {
		return nil, err
	}
	opts := []engine.RunOption{engine.Labels(labels), engine.Key(f.key)}
	if trace != "" {
		opts = append(opts, engine.Trace(trace))
	}
	return opts, nil
}

// runID returns the id for the run.
func (f *runFlags) runID(flow string) (string, error) {
	switch {
	case f.id == "":
		return jobs.NewID(flow), nil
	case len(f.id) > backend.MaxID:
		return "", exit.Usagef("--id %.20s…: an id has at most %d bytes", f.id, backend.MaxID)
	}
	return f.id, backend.CheckID("--id", f.id)
}

// beginning returns the options that are stored with the run.
func (f *runFlags) beginning(file string) (definition.Beginning, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return definition.Beginning{}, err
	}
	b := definition.Beginning{Dir: dir}
	for _, text := range f.tasks {
		name, resource, ok := strings.Cut(text, "=")
		if !ok || name == "" || resource == "" {
			return b, exit.Usagef("--task %s: want NAME=RESOURCE, such as arn:aws:lambda:…:Pay=exec:./pay.sh", text)
		}
		if b.Tasks == nil {
			b.Tasks = map[string]string{}
		}
		b.Tasks[name] = resource
	}
	for _, text := range f.buckets {
		name, folder, ok := strings.Cut(text, "=")
		if !ok || name == "" || folder == "" {
			return b, exit.Usagef("--bucket %s: want NAME=DIR, such as orders=./orders", text)
		}
		if folder, err = filepath.Abs(folder); err != nil {
			return b, err
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return b, exit.Usagef("--bucket %s: there is no folder %s", text, folder)
		}
		if b.Buckets == nil {
			b.Buckets = map[string]string{}
		}
		b.Buckets[name] = folder
	}
	switch mock := f.mock; {
	case f.mocked != "" && (mock == "" || strings.Contains(filepath.Base(mock), "#")):
		return b, exit.Usagef("--case %s: want --mock FILE beside it, without #case", f.mocked)
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
