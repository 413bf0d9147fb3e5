package command

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server"
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
	waitScale float64
	emulates  bool // ebb emulate
	functions bool // run those of templates
}

func (s subcommands) serveCommand() *cobra.Command {
	f := serveFlags{waitScale: 1}
	cmd := &cobra.Command{
		Use:   "serve [FILE|FOLDER…]",
		Short: "Drive the due runs of a database, and the runs of posted jobs",
		Long: `Drive all runs of a database that are due: runs whose wait has ended, runs whose process
died, and the runs of posted jobs (ebb post). Definitions in FILEs are stored first, so
that jobs can name them, and become state machines for clients of AWS Step Functions. Any
number of processes may serve one database. A FILE may be a template, and a FOLDER a project
of SAM, CDK, CloudFormation or the Serverless Framework.

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
	f.addFlags(cmd.Flags(), true)
	s.TemplateFlags(cmd.Flags())
	return cmd
}

// addFlags adds the flags of ebb serve or of ebb emulate.
func (f *serveFlags) addFlags(flags *pflag.FlagSet, strict bool) {
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
		"address of AWS's endpoint, the console, REST, health and metrics, or off; "+f.whoMayReach(strict))
	if strict {
		flags.BoolVar(&f.functions, functionsFlag, false, functionsHelp)
		flags.StringVar(&f.listen.keys, "keys", "",
			"file of authorized clients, on each line a name, a key (Authorization: Bearer KEY), "+
				"and its purposes: "+strings.Join(server.Purposes(), ", ")+"; without one it is for all but aws and operate")
		f.listen.addFlags(flags)
	}
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
}

// whoMayReach says in the help of --listen which addresses are allowed.
func (*serveFlags) whoMayReach(strict bool) string {
	if strict {
		return "with --keys, other machines may reach it"
	}
	return "everyone who can reach it may use it"
}
