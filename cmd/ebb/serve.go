package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/cloudevents"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// serveFlags are the flags of ebb serve.
type serveFlags struct {
	runFlags // what tasks and buckets stand for

	slots  int
	drain  time.Duration
	offers []string
	listen string
	sink   string
	dir    string
}

const (
	defaultListen = "127.0.0.1:8083"
	headerTime    = 10 * time.Second // in which the head of a request has to come
	requestTime   = time.Minute      // in which all of it has
	goodbye       = 5 * time.Second  // in which requests that were begun have to end
)

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

On the address of --listen: /livez, /readyz and /metrics (for Prometheus); and POST
/events takes CloudEvents for the runs that wait for them, or with ?run= for one.
Those that runs send go to --sink.`,
		Example: `  ebb serve trip.asl.json --slots 16
  ebb serve --offer gpu=a100 --listen off`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.serve(cmd.Context(), args, &f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.slots, "slots", engine.DefaultSlots, "how many runs to drive at once; those that only wait take no slot")
	flags.DurationVar(&f.drain, "drain", conductor.DefaultDrain, "how long what executes may still take when the process is to stop")
	flags.StringArrayVar(&f.offers, "offer", nil, "what jobs that need it find here, KEY=VALUE; may be repeated")
	flags.StringVar(&f.listen, "listen", defaultListen, "the loopback address of health, metrics and events, or off")
	flags.StringVar(&f.sink, "sink", "", "the URL that CloudEvents which runs send go to; without one they stay in the outbox")
	flags.StringVar(&f.dir, "dir", ".", "from where the programs of jobs' runs are looked up")
	flags.StringArrayVar(&f.tasks, "task", nil, "what a resource stands for in jobs' runs, NAME=RESOURCE; may be repeated")
	flags.StringArrayVar(&f.buckets, "bucket", nil, "the folder that a distributed Map's bucket is, NAME=DIR; may be repeated")
	return cmd
}

func (s *session) serve(ctx context.Context, files []string, f *serveFlags) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	offers, err := parseLabels(f.offers)
	if err != nil {
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
	return s.withStore(ctx, func(store storage.Store) error {
		for _, d := range defs {
			if _, err := store.PutDefinition(ctx, d.Definition); err != nil {
				return unreachable(err)
			}
		}
		m := newMetrics(store)
		opts := []engine.Option{engine.WithObserver(m.observe)}
		if f.sink != "" {
			opts = append(opts, engine.WithSender(cloudevents.Sender(nil, f.sink)))
		}
		c, err := conductor.New(store, s.served(store, defaults),
			conductor.WithSlots(f.slots), conductor.WithDrain(f.drain), conductor.WithOffers(offers), conductor.WithLogger(s.logger()),
			conductor.WithEngine(opts...))
		if err != nil {
			return usagef("%w", err)
		}
		mux := http.NewServeMux()
		mux.Handle("/", c.Health())
		mux.Handle("GET /metrics", m.handler())
		mux.Handle("POST /events", cloudevents.Handler(store))
		return s.conduct(ctx, c, mux, f.listen)
	})
}

// conduct lets a conductor serve until the process is to stop.
func (s *session) conduct(ctx context.Context, c *conductor.Conductor, answers http.Handler, listen string) error {
	server, err := s.listen(ctx, answers, listen)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { s.noticef("stopping: what executes may end") })()
	err = c.Run(ctx)
	if server != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		err = errors.Join(err, server.Shutdown(last))
	}
	return unreachable(err)
}

// listen lets this machine ask; nil where nobody is to.
func (s *session) listen(ctx context.Context, answers http.Handler, address string) (*http.Server, error) {
	if address == "off" {
		s.noticef("serving")
		return nil, nil //nolint:nilnil // there is none
	}
	if err := onLoopback(address); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, usagef("--listen %s: %w (use another address, or off)", address, err)
	}
	server := &http.Server{Handler: local(answers), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime}
	go func() { _ = server.Serve(listener) }() // it ends with Shutdown
	s.noticef("serving; health, metrics and events on http://%s", listener.Addr())
	return server, nil
}

// onLoopback refuses an address that others could reach: there are no keys yet.
func onLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--listen %s: want HOST:PORT, such as %s, or off", address, defaultListen)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usagef("--listen %s: only loopback addresses can be listened on (use %s, and a proxy in front)", address, defaultListen)
}

// local refuses requests that a page in a browser could have been made to send: by
// another name for this machine, or from another origin.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if onLoopback(withPort(r.Host)) != nil || r.Header.Get("Origin") != "" {
			http.Error(w, "this host or origin is not served", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err != nil {
		return net.JoinHostPort(host, "80")
	}
	return host
}

// deployed reads the definitions in files, and those that these run.
func (s *session) deployed(files []string) ([]*definition, error) {
	var all []*definition
	for _, file := range files {
		how, err := s.howToRead(file)
		if err != nil {
			return nil, err
		}
		def, err := readDefinition(file, how)
		if err != nil {
			return nil, err
		}
		flows, err := s.flowsOf(file, def, how, nil)
		if err != nil {
			return nil, err
		}
		for _, d := range flows {
			all = append(all, d)
		}
	}
	return all, nil
}

// served returns the catalog of what this process can drive: all stored definitions
// of the languages that it knows. Runs that were begun here with ebb run have the
// tasks that they were begun with; those of jobs have the defaults.
func (s *session) served(store storage.Store, defaults beginning) *conductor.Catalog {
	named := &catalog{store: store}
	compile := func(ctx context.Context, def storage.Definition) (flow.Node, error) {
		m, err := named.machine(ctx, def.Hash)
		if err != nil {
			return nil, fmt.Errorf("definition %q, version %d: %w", def.Name, def.Version, err)
		}
		return flow.Growing(def.Name, m), nil
	}
	return conductor.NewCatalog().
		Language(string(languageASL), compile).Language(string(languageSM4C), compile).
		Otherwise(named.Flow).
		TasksOf(func(run *storage.Run) (engine.Tasks, error) {
			b, err := beginningOf(run)
			if err != nil {
				return nil, err
			}
			if b.Dir == "" {
				b = defaults
			}
			return b.registry(run.Flow)
		})
}
