package command

import (
	"context"
	"maps"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/doctor"
	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// consolePath is where the pages are served.
const consolePath = "/console/"

func (s subcommands) consoleCommand() *cobra.Command {
	f := listenFlags{}
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Serve pages that show the runs of a database",
		Long: `Serve pages that show the runs of a database, or of a backup, in a browser. The pages only
read. By default only this machine can reach them. ebb serve serves the same pages.`,
		Example: `  ebb console
  ebb console --dsn sqlite:backup.db --listen 127.0.0.1:9000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := drive.Interruptible(cmd.Context())
			defer stop()
			srv, err := f.server(s.Logger())
			if err != nil {
				return err
			}
			if srv == nil {
				return exit.Usagef("--listen off: the console needs an address")
			}
			return s.Reading(ctx, func(store *sqlstore.Store) error {
				url, err := srv.Start(ctx, s.paths(store, nil, nil))
				if err != nil {
					return exit.Usagef("--listen %s: %w (use another address)", f.address, err)
				}
				s.Noticef("the console is at %s%s", url, consolePath)
				<-ctx.Done()
				return srv.Stop(context.WithoutCancel(ctx))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.address, "listen", server.DefaultAddress,
		"address of the pages; with --keys, other machines may reach it")
	flags.StringVar(&f.keys, "keys", "", "file of authorized clients, as in ebb serve")
	f.addFlags(flags)
	return cmd
}

// paths returns a handler of the console and of other paths.
func (s subcommands) paths(store backend.Store, commands server.Commands, others map[string]http.Handler) http.Handler {
	all := s.consolePaths(store, commands)
	maps.Copy(all, others)
	return server.Paths(all)
}

// consolePaths returns the handlers of the console, whose forms go to the API, if there is one. The root redirects to
// the console.
func (s subcommands) consolePaths(store backend.Store, commands server.Commands) map[string]http.Handler {
	catalog := &definition.Catalog{Store: store}
	return map[string]http.Handler{
		"GET /{$}": http.RedirectHandler(consolePath, http.StatusSeeOther),
		consolePath: console.New(store, console.Options{
			Log: s.Logger(), Commands: commands,
			Machine: func(ctx context.Context, run *storage.Run) (console.Machine, error) {
				if m, is := swf.MachineOf(store, run); is {
					return m, nil
				}
				return catalog.MachineOf(ctx, run)
			},
			Define: func(_ context.Context, d *storage.Definition) (console.Machine, error) { return catalog.Parsed(d) },
			Examine: func(ctx context.Context, report func(console.Finding)) error {
				return doctor.Examine(ctx, s.Session, func(f *doctor.Finding) error {
					report(console.Finding{Check: f.Check, State: f.State, Says: f.Says, Do: f.Do})
					return nil
				})
			},
		}),
	}
}
