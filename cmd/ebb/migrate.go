package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s *session) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring a database on a server to the tables that this ebb works with",
		Long: `Bring a database on a server to the tables that this ebb works with. A file is
brought there whenever it is opened; on a server, where other processes work too,
it is done when you say so.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "up",
			Short: "Make the steps that are missing, each in one transaction",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				before, err := sqlstore.Migrate(cmd.Context(), s.dsn)
				if err != nil {
					return unreachable(err)
				}
				return s.tellSchema(&before, "made")
			},
		},
		&cobra.Command{
			Use:   "status",
			Short: "Say which steps are missing",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				found, err := sqlstore.SchemaOf(cmd.Context(), s.dsn)
				if err != nil {
					return unreachable(err)
				}
				return s.tellSchema(&found, "missing")
			},
		},
		&cobra.Command{
			Use:   "print",
			Short: "Print the missing steps as SQL, for psql",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				found, err := sqlstore.SchemaOf(cmd.Context(), s.dsn)
				if err != nil {
					return unreachable(err)
				}
				_, err = fmt.Fprint(s.out, found.Script())
				return err
			},
		})
	return cmd
}

// tellSchema says where a database is, and which steps were made or are missing.
func (s *session) tellSchema(found *sqlstore.Schema, steps string) error {
	if s.output == asJSON {
		type step struct {
			Version int64  `json:"version"`
			Name    string `json:"name"`
		}
		all := []step{}
		for _, m := range found.Pending {
			all = append(all, step{m.Version, m.Name})
		}
		return view.NewJSON(s.out).Encode(map[string]any{"place": found.Place, "version": found.Version, "newest": found.Newest, steps: all})
	}
	if len(found.Pending) == 0 {
		_, err := fmt.Fprintf(s.out, "%s is at schema %d, the newest that this ebb knows\n", visible.Line(found.Place), found.Version)
		return err
	}
	if _, err := fmt.Fprintf(s.out, "%s: schema %d of %d\n", visible.Line(found.Place), found.Version, found.Newest); err != nil {
		return err
	}
	for _, m := range found.Pending {
		if _, err := fmt.Fprintf(s.out, "  %s: %d, %s\n", steps, m.Version, m.Name); err != nil {
			return err
		}
	}
	return nil
}
