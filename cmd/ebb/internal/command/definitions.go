package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) definitionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "definitions",
		Short: "List, show and compare stored definitions, and choose the version that new runs take",
		Long: `List, show and compare the definitions that ebb serve, ebb post and clients have stored, and
choose the version that new jobs and subflows take. A machine of AWS's API has aliases
instead. A run stays on the definition with which it began.`,
		Example: `  ebb definitions
  ebb definitions diff order@3 order@4
  ebb definitions use order@3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.Reading(cmd.Context(), func(store *sqlstore.Store) error {
				return s.listDefinitions(cmd.Context(), store, "")
			})
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "list [FLOW]",
			Short: "List stored definitions by name, the newest version first",
			Long: `List stored definitions by name, the newest version first. New runs take the one that is
marked as current.`,
			Example: `  ebb definitions list
  ebb definitions list order -o json`,
			Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return s.Reading(cmd.Context(), func(store *sqlstore.Store) error {
					return s.listDefinitions(cmd.Context(), store, strings.Join(args, ""))
				})
			},
		},
		&cobra.Command{
			Use:   "show FLOW[@VERSION]",
			Short: "Print the text of a stored definition",
			Long:  `Print the text of a stored definition: of a version, or of the current one.`,
			Example: `  ebb definitions show order
  ebb definitions show order@3 > order.asl.json`,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return s.Reading(cmd.Context(), func(store *sqlstore.Store) error {
					def, err := namedDefinition(cmd.Context(), store, args[0])
					if err == nil {
						_, err = s.Out.Write(def.Text)
					}
					return err
				})
			},
		},
		&cobra.Command{
			Use:   "diff OLD NEW",
			Short: "Show what differs between two stored definitions",
			Long: `Show what differs between the texts of two stored definitions, each named as FLOW@VERSION,
or as FLOW for the current version.`,
			Example: `  ebb definitions diff order@3 order@4`,
			Args:    cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return s.Reading(cmd.Context(), func(store *sqlstore.Store) error {
					old, err := namedDefinition(cmd.Context(), store, args[0])
					if err != nil {
						return err
					}
					def, err := namedDefinition(cmd.Context(), store, args[1])
					if err == nil {
						_, err = s.Out.Write(diff.Diff(args[0], old.Text, args[1], def.Text))
					}
					return err
				})
			},
		},
		&cobra.Command{
			Use:   "use FLOW@VERSION",
			Short: "Make new jobs and subflows take a version of a definition",
			Long: `Make new jobs and subflows take a version of a definition, such as the one before a mistake.
This holds until a text is stored that was never stored before. To store an older text again,
also by a start of ebb serve, changes nothing. A job that names a version takes that one.`,
			Example: `  ebb definitions use order@3`,
			Args:    cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return s.WithExisting(cmd.Context(), func(store *sqlstore.Store) error {
					return s.useDefinition(cmd.Context(), store, args[0])
				})
			},
		},
	)
	return cmd
}

// A listedDefinition is a definition in JSON; the keys are stable.
type listedDefinition struct {
	Hash     string    `json:"definition"`
	Name     string    `json:"flow"`
	Version  int64     `json:"version"`
	Language string    `json:"language"`
	Created  time.Time `json:"created"`
	Current  bool      `json:"current"` // new runs take it
}

func (s subcommands) listDefinitions(ctx context.Context, store backend.Store, name string) error {
	var rows [][]string
	var current storage.Definition
	q := backend.DefinitionQuery{Name: name, Limit: storage.PageRecords}
	for {
		page, err := store.Definitions(ctx, q)
		if err != nil {
			return exit.DatabaseError(err)
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			d := &page[i]
			if d.Name != current.Name {
				if current, err = backend.CurrentDefinition(ctx, store, d.Name); err != nil {
					return exit.DatabaseError(err)
				}
			}
			one := listedDefinition{d.Hash, d.Name, d.Version, d.Language, d.Created.UTC(), d.Version == current.Version}
			if !s.JSON() {
				rows = append(rows, one.row())
			} else if err := view.NewJSON(s.Out).Encode(one); err != nil {
				return err
			}
		}
		q.After = &page[len(page)-1]
	}
	switch {
	case s.JSON():
		return nil
	case len(rows) == 0:
		_, err := fmt.Fprintln(s.Out, "no definitions")
		return err
	}
	return writeTable(s.Out, []string{"FLOW", "VERSION", "LANGUAGE", "STORED", ""}, rows)
}

func (d *listedDefinition) row() []string {
	mark := ""
	if d.Current {
		mark = "current"
	}
	return []string{
		visible.Line(d.Name), strconv.FormatInt(d.Version, 10), d.Language, d.Created.Format(time.DateTime), mark,
	}
}

func (s subcommands) useDefinition(ctx context.Context, store backend.Store, what string) error {
	name, version, err := cutVersion(what)
	if err != nil || version == 0 {
		return exit.Usagef("%s: name a version, such as %s@1", what, name)
	}
	chosen, err := backend.UseDefinition(ctx, store, name, version)
	if err != nil {
		return ofDefinition(what, err)
	}
	s.Done = true
	line := backend.Audited(s.Issuer(), "use", "definition "+chosen.Name+" "+chosen.Hash, time.Now())
	return exit.DatabaseError(store.WriteAudit(ctx, line))
}

// namedDefinition returns the definition that FLOW or FLOW@VERSION names.
func namedDefinition(ctx context.Context, store backend.Store, what string) (def storage.Definition, err error) {
	name, version, err := cutVersion(what)
	switch {
	case err != nil:
		return def, err
	case version == 0:
		def, err = backend.CurrentDefinition(ctx, store, name)
	default:
		def, err = backend.FindDefinition(ctx, store, name, version)
	}
	if err == nil {
		def, err = store.Definition(ctx, def.Hash) // with its text
	}
	return def, ofDefinition(what, err)
}

// cutVersion splits FLOW@VERSION. The version is 0 if none is given.
func cutVersion(what string) (name string, version int64, err error) {
	name, text, given := strings.Cut(what, "@")
	if !given {
		return name, 0, nil
	}
	if version, err = strconv.ParseInt(text, 10, 64); err != nil || version < 1 {
		return name, 0, exit.Usagef("%s: want FLOW@VERSION, with a number from 1 on", what)
	}
	return name, version, nil
}

// ofDefinition returns the error of a look for a definition.
func ofDefinition(what string, err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		err = fmt.Errorf("there is no stored definition %s (see ebb definitions list)", what)
		return &exit.Error{Status: exit.NotFound, Err: err}
	}
	return exit.DatabaseError(err)
}
