package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate a PostgreSQL database to the schema of this version",
		Long: `Migrate a PostgreSQL database to the schema of this version. Ebb migrates a file when
it opens it. On a server, where other processes use the database too, you decide when
to migrate.`,
		Args: cobra.NoArgs,
	}
	sub := func(use, short string, run func(context.Context) error) {
		cmd.AddCommand(&cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context()) },
		})
	}
	sub("up", "Run the pending migrations, each in one transaction", func(ctx context.Context) error {
		before, err := sqlstore.Migrate(ctx, s.DSN)
		if err != nil {
			return exit.DatabaseError(err)
		}
		return s.tellSchema(&before, "made")
	})
	sub("status", "List pending migrations", func(ctx context.Context) error {
		found, err := sqlstore.SchemaOf(ctx, s.DSN)
		if err != nil {
			return exit.DatabaseError(err)
		}
		return s.tellSchema(&found, "missing")
	})
	sub("print", "Print the pending migrations as SQL, for psql", func(ctx context.Context) error {
		found, err := sqlstore.SchemaOf(ctx, s.DSN)
		if err != nil {
			return exit.DatabaseError(err)
		}
		_, err = fmt.Fprint(s.Out, found.Script())
		return err
	})
	return cmd
}

// tellSchema prints the schema of a database, and the steps that ran or are pending.
func (s subcommands) tellSchema(found *sqlstore.Schema, steps string) error {
	if s.JSON() {
		type step struct {
			Version int64  `json:"version"`
			Name    string `json:"name"`
		}
		all := []step{}
		for _, m := range found.Pending {
			all = append(all, step{m.Version, m.Name})
		}
		return view.NewJSON(s.Out).Encode(map[string]any{
			"place": found.Place, "version": found.Version,
			"newest": found.Newest, steps: all,
		})
	}
	if len(found.Pending) == 0 {
		_, err := fmt.Fprintf(s.Out, "%s is at schema %d, the newest that this ebb knows\n", visible.Line(found.Place),
			found.Version)
		return err
	}
	if _, err := fmt.Fprintf(s.Out, "%s: schema %d of %d\n", visible.Line(found.Place), found.Version,
		found.Newest); err != nil {
		return err
	}
	for _, m := range found.Pending {
		if _, err := fmt.Fprintf(s.Out, "  %s: %d, %s\n", steps, m.Version, m.Name); err != nil {
			return err
		}
	}
	return nil
}
