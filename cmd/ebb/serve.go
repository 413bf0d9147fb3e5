package main

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
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/server/metrics"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// serveFlags are the flags of ebb serve.
type serveFlags struct {
	runFlags // what tasks and buckets stand for

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
}

func (s *session) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [FILE…]",
		Short: "Drive all runs of a database that are due, and those that jobs want",
		Long: `Drive all runs of a database that are due: those that wait no more, whose process
died, and those that posted jobs want (ebb post). Definitions in FILEs are stored
first, so that jobs can name them. Any number of processes may serve one database.

SIGTERM or Ctrl-C drains: what executes may end, nothing more is begun, and the runs
are left to other processes, or to the next. Nothing is suspended or undone.

Each flag can also be written to a file (--config), or given by the environment as
EBB_SLOTS and so on: a flag goes before the environment, and that before the file.

On the address of --listen: /livez, /readyz and /metrics (for Prometheus); and POST
/events takes CloudEvents for the runs that wait for them, or with ?run= for one;
/tasks/ is where workers ask for tasks.
Those that runs send go to --sink.`,
		Example: `  ebb serve trip.asl.json --slots 16
  ebb serve --offer gpu=a100 --listen off
  ebb serve --config /etc/ebb/ebb.yaml --check`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.serve(cmd.Context(), args, &f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.slots, "slots", engine.DefaultSlots, "how many runs to drive at once; those that only wait take no slot")
	flags.IntVar(&f.maxLost, "max-lost", engine.DefaultMaxLost, "set a run aside when so many processes died that drove it and nothing else")
	flags.DurationVar(&f.drain, "drain", conductor.DefaultDrain, "how long what executes may still take when the process is to stop")
	flags.StringArrayVar(&f.offers, "offer", nil, "what jobs that need it find here, KEY=VALUE; may be repeated")
	flags.StringVar(&f.config, configFlag, "", "a file of YAML in which flags stand that are not given here: slots: 16")
	flags.BoolVar(&f.check, "check", false, "only say what is wrong with flags, file and definitions; the database is not opened")
	flags.StringVar(&f.listen.address, "listen", server.DefaultAddress, "the address of health, metrics and events, or off; with --keys one that others can reach")
	flags.StringVar(&f.listen.keys, "keys", "", "a file of those who may ask, on each line a name, a key (Authorization: Bearer KEY), "+
		"and behind it, if not for all, what it is for: "+strings.Join(server.Purposes(), ", "))
	flags.StringArrayVar(&f.listen.hosts, "host", nil, "a name by which others know this machine; may be repeated")
	flags.StringVar(&f.listen.cert, "tls-cert", "", "a file with the certificate by which --listen speaks HTTPS")
	flags.StringVar(&f.listen.certKey, "tls-key", "", "the file with the key of that certificate")
	flags.StringArrayVar(&f.keep, "keep", nil, "how long to keep runs that have ended, as ebb prune takes it; without it they are kept. May be repeated")
	flags.StringVar(&f.sink, "sink", "", "the URL that CloudEvents which runs send go to; without one they stay in the outbox")
	flags.StringVar(&f.dir, "dir", ".", "from where the programs of jobs' runs are looked up")
	flags.StringArrayVar(&f.tasks, "task", nil, "what a resource stands for in jobs' runs, NAME=RESOURCE; may be repeated")
	flags.StringArrayVar(&f.buckets, "bucket", nil, "the folder that a distributed Map's bucket is, NAME=DIR; may be repeated")
	return cmd
}

func (s *session) serve(ctx context.Context, files []string, f *serveFlags) error {
	offers, err := parseLabels(f.offers)
	if err != nil {
		return err
	}
	srv, err := f.listen.server(s.logger())
	if err != nil {
		return err
	}
	policy, err := parseRetention(f.keep)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = s.definitions
	}
	if err := f.places(); err != nil {
		return err
	}
	defaults, err := f.beginning(filepath.Join(f.dir, "definition"))
	if err != nil {
		return err
	}
	defs, err := s.deployed(files)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx) // before, a signal ends the process, though it reads what never ends
	defer stop()
	conducting := []conductor.Option{
		conductor.WithSlots(f.slots), conductor.WithDrain(f.drain), conductor.WithOffers(offers), conductor.WithLogger(s.logger()),
		conductor.WithServer(engine.WithMaxLost(f.maxLost)),
	}
	if f.check {
		if _, err := conductor.New(memstore.New(), conductor.NewCatalog(), conducting...); err != nil {
			return usagef("%w", err)
		}
		return nil
	}
	return s.withFile(ctx, func(file *sqlstore.Store) error {
		m := metrics.New(file)
		store := m.Store()
		for _, d := range defs {
			if _, err := store.PutDefinition(ctx, d.Definition); err != nil {
				return unreachable(err)
			}
		}
		conducting = append(conducting, conductor.WithEngine(s.engineLimits(), engine.WithObserver(m.Observe)))
		if f.sink != "" {
			conducting = append(conducting, conductor.WithServer(engine.WithSender(cloudevents.Sender(nil, f.sink))))
		}
		c, err := conductor.New(store, s.served(store, defaults), conducting...)
		if err != nil {
			return usagef("%w", err)
		}
		m.WatchMemory(c.Memory)
		if srv == nil {
			s.noticef("serving")
		} else if err := s.listen(ctx, srv, f.listen.address, server.Paths(map[string]http.Handler{
			"/livez": server.Live(), "/readyz": srv.Ready(c.Ready), "/metrics": server.Only(http.MethodGet, m.Handler()),
			"/events": cloudevents.Handler(store), "/tasks/": workers.Handler(ctx, store),
		})); err != nil {
			return err
		}
		return s.conduct(ctx, c, srv, &pruner{store, policy, file.Vacuum, s.logger()})
	})
}

// places judges where programs are looked up, and where events go.
func (f *serveFlags) places() error {
	if info, err := os.Stat(f.dir); err != nil || !info.IsDir() {
		return usagef("--dir %s: there is no such folder", f.dir)
	}
	if f.sink == "" {
		return nil
	}
	u, err := url.Parse(f.sink)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" { // the error would have a password in it
		return usagef("--sink %s: want a URL such as https://example.org/events", redact.URL(f.sink))
	}
	return nil
}

// conduct lets a conductor serve until the process is to stop.
func (s *session) conduct(ctx context.Context, c *conductor.Conductor, srv *server.Server, p *pruner) error {
	defer context.AfterFunc(ctx, func() { s.noticef("stopping: what executes may end") })()
	var beside sync.WaitGroup
	attended, end := context.WithCancel(ctx)
	beside.Go(func() { p.run(attended) })
	beside.Go(func() { supervisorOf(os.Getenv).attend(attended, c.Ready) })
	err := c.Run(ctx)
	end()
	beside.Wait()
	if srv != nil {
		err = errors.Join(err, srv.Stop(context.WithoutCancel(ctx)))
	}
	return unreachable(err)
}

// served returns the catalog of what this process can drive: all stored definitions
// of the languages that it knows. Runs that were begun here with ebb run have the
// tasks that they were begun with; those of jobs have the defaults.
func (s *session) served(store storage.Store, defaults definition.Beginning) *conductor.Catalog {
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
		Otherwise(named.Flow).
		TasksOf(func(run *storage.Run) (engine.Tasks, error) {
			b, err := definition.BeginningOf(run)
			if err != nil {
				return nil, err
			}
			if b.Dir == "" {
				b = defaults
			}
			return b.Registry(run.Flow, s.fileMode == folderMode)
		})
}
