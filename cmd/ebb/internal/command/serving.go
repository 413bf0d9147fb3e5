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
	"github.com/ebbflow/ebb/server/lambda"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A serving contains what the flags of ebb serve describe.
type serving struct {
	*serveFlags

	server     *server.Server // nil if it does not listen
	policy     retention.Policy
	defaults   definition.Beginning
	files      files
	functions  *lambda.Server // runs those of the files; nil if none run
	aws        *awsSettings
	conducting []engine.ServerOption
	url        string // of the server that listens; "" if none does
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
	s.Template.Account, s.Template.Region, s.Template.Partition = f.account, f.region, f.partition
	w.files.paths = files
	if err := w.files.read(s.Session); err != nil {
		return nil, err
	}
	if err := s.judge(w); err != nil {
		return nil, err
	}
	if w.aws, err = f.awsFlags.config(); err != nil {
		return nil, err
	}
	w.aws.sfn.AnyAccount = f.emulates
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
	if w.emulates && s.DSN == session.MemoryDSN {
		store := memstore.New()
		return errors.Join(s.serveStore(ctx, store, w), store.Close())
	}
	return s.WithStore(ctx, func(file *sqlstore.Store) error { return s.serveStore(ctx, file, w) })
}

// serveStore serves a store until ctx ends.
func (s subcommands) serveStore(ctx context.Context, opened backend.Store, w *serving) error {
	measured, err := s.measure(ctx, opened, w)
	if err != nil {
		return exit.DatabaseError(err)
	}
	store := measured.store
	var machines *sfn.Server // before the first run is driven
	observe := func(ev engine.Event) {
		measured.observe(ev)
		machines.Observe(ev)
	}
	w.conducting = append(w.conducting, engine.WithEngine(s.EngineLimits(), engine.WithObserver(observe)))
	if w.serveFlags.functions {
		if w.functions, err = s.startFunctions(w.aws.sfn.Account, w.given().projects...); err != nil {
			return err
		}
		defer w.functions.Close()
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
	flows := s.served(ctx, store, w).Complete(machines.Complete).Queues(machines.Queue).
		Add(1, workflows.Flow()).Add(1, bulk.Flow(store, (&definition.Catalog{Store: store}).Waits))
	c, err = conductor.New(jobs.New(store, jobs.Policy{}), flows, append(w.conducting, serverOptions(w.serveFlags)...)...)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	measured.watch(c)
	loaded, err := s.load(ctx, store, machines, w)
	if err != nil {
		return err
	}
	if w.server != nil && w.awsFlags.aws == on {
		w.server.ServeAWS(aws.New(aws.Options{
			Region: machines.Region(), AnyAccount: w.aws.sfn.AnyAccount, Log: s.Logger(),
		}, machines.Service(), workflows.Service(c)))
	}
	if w.server != nil {
		rest := s.restAPI(store, w.defaults) //nolint:contextcheck // each request has its own
		all := map[string]http.Handler{
			"/livez": server.Live(), "/readyz": w.server.Ready(c.Ready, w.notices()...),
			"/events": cloudevents.Handler(store, w.startByRules(store)),
			"/tasks/": workers.Handler(ctx, store), api.Prefix: rest,
		}
		measured.addPaths(all)
		functionPaths(all, w.functions)
		if w.emulates {
			s.emulatorPaths(all, &emulated{machines, workflows, w, store})
		}
		if w.url, err = w.server.Start(ctx, s.paths(store, rest, all)); err != nil {
			return exit.Usagef("--listen %s: %w (use another address, or off)", w.listen.address, err)
		}
		w.functions.SetEnvironment(s.endpoints(w.url))
	}
	if err := s.announce(ctx, store, w, loaded); err != nil {
		return err
	}
	pruner := &retention.Pruner{Store: store, Policy: w.policy, Tidy: measured.tidy, Log: s.Logger()}
	logs := func(ctx context.Context) { machines.Log(ctx, warnOfLogs(s.Logger())) }
	reload := func(ctx context.Context) { s.follow(ctx, store, machines, w) }
	return s.conduct(ctx, c, w.server, pruner.Run, workflows.Run, logs, measured.update, reload)
}

// serverOptions returns the options of the conductor that need a sink or skip waits.
func serverOptions(f *serveFlags) (opts []engine.ServerOption) {
	if f.skipWaits {
		f.waitScale = 0
	}
	if f.waitScale != 1 {
		opts = append(opts, engine.WithWaitScale(f.waitScale))
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
func (s subcommands) served(ctx context.Context, store backend.Store, w *serving) *conductor.Catalog {
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
				b = w.defaults
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
			foreign, err := w.isForeign(ctx, store, run, m)
			if err != nil {
				return nil, err
			}
			if foreign {
				registry.Allow = s.AllowsURL
			}
			return registry, w.addMocks(run, registry)
		})
}
