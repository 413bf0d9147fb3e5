package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/retention"
	"github.com/ebbflow/ebb/cmd/ebb/internal/sdnotify"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/server/metrics"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// serveFlags are the flags of ebb serve.
type serveFlags struct {
	runFlags // mappings of tasks and buckets
	awsFlags

	slots   int
	maxLost int
	drain   time.Duration
	offers  []string
	listen  listenFlags
	keep    []string
	sink    string
	dir     string
	config  string
	check   bool

	skipWaits bool
}

func (s subcommands) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [FILE…]",
		Short: "Drive the due runs of a database, and the runs of posted jobs",
		Long: `Drive all runs of a database that are due: runs whose wait has ended, runs whose process
died, and the runs of posted jobs (ebb post). Definitions in FILEs are stored first, so
that jobs can name them. Any number of processes may serve one database.

SIGTERM or Ctrl-C drains: running tasks may end, nothing more is started, and other
processes, or the next one, resume the runs. Nothing is suspended or undone.

Flags can also be in a file (--config) or in the environment, as EBB_SLOTS and so on. A
flag takes precedence over the environment, and the environment over the file.

The address of --listen serves /livez, /readyz and /metrics (for Prometheus). POST
/events accepts CloudEvents for the runs that wait for them, or with ?run= for one run.
Workers ask for tasks at /tasks/. Programs read and command runs at /api/v1/, which
/api/v1/openapi.json describes. CloudEvents that runs send go to --sink. Clients of AWS
Step Functions and Amazon SWF use the URL of the address as their endpoint. Pages at
/console/ show the runs.`,
		Example: `  ebb serve trip.asl.json --slots 16
  ebb serve --offer gpu=a100 --listen off
  ebb serve --config /etc/ebb/ebb.yaml --check`,
		Annotations: map[string]string{session.LogLevel: "info"},
		RunE:        func(cmd *cobra.Command, args []string) error { return s.serve(cmd.Context(), args, &f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.slots, "slots", engine.DefaultSlots,
		"how many runs to drive at once; runs that only wait take no slot")
	flags.IntVar(&f.maxLost, "max-lost", engine.DefaultMaxLost,
		"set a run aside after this many processes died that drove only this run")
	flags.DurationVar(&f.drain, "drain", conductor.DefaultDrain,
		"how long running atoms may continue after a stop request")
	flags.StringArrayVar(&f.offers, "offer", nil,
		"offer of this process for jobs that need it, KEY=VALUE; may be repeated")
	flags.StringVar(&f.config, session.ConfigFlag, "",
		"a YAML file with flags that are not given here: slots: 16")
	flags.BoolVar(&f.check, "check", false,
		"only check flags, files, definitions and the path of the database; ask no server, and change nothing")
	flags.StringVar(&f.listen.address, "listen", server.DefaultAddress,
		"address of health, metrics and events, or off; with --keys, other machines may reach it")
	flags.StringVar(&f.listen.keys, "keys", "",
		"file of authorized clients, on each line a name, a key (Authorization: Bearer KEY), "+
			"and its purposes: "+strings.Join(server.Purposes(), ", ")+"; without one it is for all but aws and operate")
	f.listen.addFlags(flags)
	flags.StringArrayVar(&f.keep, "keep", nil,
		"how long to keep ended runs, as in ebb prune (default for ever); may be repeated")
	flags.StringVar(&f.sink, "sink", "",
		"URL for CloudEvents that runs send; without it they stay in the outbox")
	flags.StringVar(&f.dir, "dir", ".", "from where the programs of jobs' runs are looked up")
	flags.StringArrayVar(&f.tasks, "task", nil, "map a resource in jobs' runs, NAME=RESOURCE; may be repeated")
	flags.StringArrayVar(&f.buckets, "bucket", nil,
		"folder for a bucket of a distributed Map, NAME=DIR; may be repeated")
	flags.BoolVar(&f.skipWaits, "skip-waits", false,
		"for tests: waits and pauses before retries take no time; timeouts stay")
	f.register(flags)
	return cmd
}

// A serving contains what the flags of ebb serve describe.
type serving struct {
	*serveFlags

	server     *server.Server // nil if it does not listen
	policy     retention.Policy
	defaults   definition.Beginning
	deployed   []*definition.Definition
	aws        *awsSettings
	conducting []engine.ServerOption
}

// servingOf checks the flags, and reads the definitions.
func (s subcommands) servingOf(files []string, f *serveFlags) (*serving, error) {
	offers, err := session.ParseLabels("offer", f.offers)
	if err != nil {
		return nil, err
	}
	w := &serving{serveFlags: f}
	if w.server, err = f.listen.server(s.Logger()); err != nil {
		return nil, err
	}
	if w.policy, err = retention.Parse(f.keep); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		files = s.Definitions
	}
	if err := f.places(); err != nil {
		return nil, err
	}
	if w.defaults, err = f.beginning(filepath.Join(f.dir, "definition")); err != nil {
		return nil, err
	}
	if w.deployed, err = s.Deployed(files); err != nil {
		return nil, err
	}
	if w.aws, err = f.awsFlags.config(); err != nil {
		return nil, err
	}
	w.conducting = []engine.ServerOption{
		engine.WithSlots(f.slots), engine.WithDrain(f.drain), engine.WithOffers(offers), engine.WithMaxLost(f.maxLost),
		engine.WithEngine(engine.WithLogger(s.Logger())),
	}
	return w, nil
}

func (s subcommands) serve(ctx context.Context, files []string, f *serveFlags) error {
	w, err := s.servingOf(files, f)
	if err != nil {
		return err
	}
	ctx, stop := drive.Interruptible(ctx) // before this, a signal ends the process, even if it reads endless input
	defer stop()
	if f.check {
		return s.check(ctx, w)
	}
	if err := createLogGroups(&w.aws.sfn); err != nil {
		return err
	}
	return s.WithStore(ctx, func(file *sqlstore.Store) error { return s.serveStore(ctx, file, w) })
}

// serveStore serves a store until ctx ends.
func (s subcommands) serveStore(ctx context.Context, file *sqlstore.Store, w *serving) error {
	m := metrics.New(file)
	store := backend.Of(m.Store())
	for _, d := range w.deployed {
		if _, err := store.PutDefinition(ctx, d.Definition); err != nil {
			return exit.DatabaseError(err)
		}
	}
	var machines *sfn.Server // before the first run is driven
	observe := func(ev engine.Event) {
		m.Observe(ev)
		machines.Observe(ev)
	}
	w.conducting = append(w.conducting, engine.WithEngine(s.EngineLimits(), engine.WithObserver(observe)))
	described, err := s.describe(ctx, file, w.skipWaits)
	if err != nil {
		return exit.DatabaseError(err)
	}
	var c *conductor.Conductor
	w.aws.sfn.Stopping, w.aws.swf.Stopping = ctx.Done(), ctx.Done()
	w.aws.sfn.Start = func(ctx context.Context, run, definition string, opts ...engine.RunOption) error {
		return c.Start(ctx, run, conductor.Ref{Definition: definition}, opts...)
	}
	if machines, err = s.awsServer(store, &w.aws.sfn, w.defaults); err != nil {
		return err
	}
	s.joinAWS(machines)
	workflows, err := swfServer(store, s.Logger(), &w.aws.swf)
	if err != nil {
		return err
	}
	flows := s.served(ctx, store, w.serveFlags, w.defaults).Complete(machines.Complete).Queues(machines.Queue).
		Add(1, workflows.Flow()).Add(1, bulk.Flow(store, (&definition.Catalog{Store: store}).Waits))
	c, err = conductor.New(jobs.New(store, jobs.Policy{}), flows, append(w.conducting, serverOptions(w.serveFlags)...)...)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	m.WatchMemory(c.Memory)
	if w.server != nil && w.awsFlags.aws == on {
		w.server.ServeAWS(aws.New(aws.Options{Region: machines.Region(), Log: s.Logger()}, machines.Service(),
			workflows.Service(c)))
	}
	rest := s.restAPI(store, w.defaults) //nolint:contextcheck // each request has its own
	if w.server == nil {
		s.Noticef("serving")
	} else if err := s.listen(ctx, w.server, w.listen.address, s.paths(store, rest, map[string]http.Handler{
		"/livez": server.Live(), "/readyz": w.server.Ready(c.Ready, w.notices()...),
		"/metrics": server.Only(http.MethodGet, m.Handler()),
		"/events":  cloudevents.Handler(store), "/tasks/": workers.Handler(ctx, store),
		api.Prefix: rest,
	})); err != nil {
		return err
	}
	pruner := &retention.Pruner{Store: store, Policy: w.policy, Tidy: file.Vacuum, Log: s.Logger()}
	logs := func(ctx context.Context) { machines.Log(ctx, warnOfLogs(s.Logger())) }
	return s.conduct(ctx, c, w.server, pruner.Run, workflows.Run, logs, described.update)
}

// serverOptions returns the options of the conductor that need a sink or skip waits.
func serverOptions(f *serveFlags) (opts []engine.ServerOption) {
	if f.skipWaits {
		opts = append(opts, engine.WithoutWaits())
	}
	if f.sink != "" {
		opts = append(opts, engine.WithSender(cloudevents.Sender(nil, f.sink)))
	}
	return opts
}

// check checks what can be known without a server of databases: the settings of the conductor and of the APIs of AWS,
// and what the path of the database leads to. It changes nothing.
func (s subcommands) check(ctx context.Context, w *serving) error {
	board := jobs.New(memstore.New(), jobs.Policy{})
	if _, err := conductor.New(board, conductor.NewCatalog(), w.conducting...); err != nil {
		return exit.Usagef("%w", err)
	}
	if _, err := s.awsServer(memstore.New(), &w.aws.sfn, w.defaults); err != nil {
		return err
	}
	if _, err := swfServer(memstore.New(), s.Logger(), &w.aws.swf); err != nil {
		return err
	}
	if strings.HasPrefix(s.DSN, "postgres://") || strings.HasPrefix(s.DSN, "postgresql://") {
		return nil
	}
	_, err := sqlstore.SchemaOf(ctx, s.DSN)
	return exit.DatabaseError(err)
}

// places checks the folder of programs, and the target of events.
func (f *serveFlags) places() error {
	if info, err := os.Stat(f.dir); err != nil || !info.IsDir() {
		return exit.Usagef("--dir %s: there is no such folder", f.dir)
	}
	if f.sink == "" {
		return nil
	}
	u, err := url.Parse(f.sink)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // the error would contain a password
		return exit.Usagef("--sink %s: want a URL such as https://example.org/events", redact.URL(f.sink))
	}
	return nil
}

// conduct runs a conductor until the process must stop, with other work beside it.
func (s subcommands) conduct(ctx context.Context, c *conductor.Conductor, srv *server.Server,
	work ...func(context.Context),
) error {
	defer context.AfterFunc(ctx, func() { s.Noticef("stopping: what executes may end") })()
	var beside sync.WaitGroup
	attended, end := context.WithCancel(ctx)
	for _, do := range work {
		beside.Go(func() { do(attended) })
	}
	beside.Go(func() { sdnotify.FromEnvironment(os.Getenv).Attend(attended, c.Ready) })
	err := c.Run(ctx)
	end()
	beside.Wait()
	if srv != nil {
		err = errors.Join(err, srv.Stop(context.WithoutCancel(ctx)))
	}
	return exit.DatabaseError(err)
}

// served returns the catalog of the flows that this process can drive: all stored definitions in the languages that
// it knows. Runs that ebb run started have the tasks with which they were started; runs of jobs have the defaults.
func (s subcommands) served(ctx context.Context, store backend.Store, f *serveFlags,
	defaults definition.Beginning,
) *conductor.Catalog {
	named := &definition.Catalog{Store: store}
	compile := func(_ context.Context, def storage.Definition) (flow.Node, error) {
		m, err := named.Parsed(&def)
		if err != nil {
			return nil, fmt.Errorf("definition %q, version %d: %w", def.Name, def.Version, err)
		}
		return flow.Growing(def.Name, m), nil
	}
	return conductor.NewCatalog().
		Language(definition.ASL, compile).Language(definition.SM4C, compile).
		Fallback(named.Flow).
		TasksOf(func(run *storage.Run) (engine.Tasks, error) {
			b, err := definition.BeginningOf(run)
			if err != nil {
				return nil, err
			}
			if b.Dir == "" {
				b = defaults
			}
			registry, err := b.Registry(run.Flow, s.FolderMode())
			if err != nil {
				return nil, err
			}
			m, err := named.MachineOf(ctx, run)
			if err != nil && !errors.Is(err, storage.ErrNotFound) { // a flow of a Go program has no definition
				return nil, err
			}
			s.Services().Join(registry, m)
			foreign, err := isForeign(ctx, store, run, m)
			if err != nil {
				return nil, err
			}
			if foreign {
				registry.Allow = s.AllowsURL
			}
			return registry, f.addMocks(run, registry)
		})
}
