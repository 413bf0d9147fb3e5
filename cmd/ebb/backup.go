package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s *session) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database as it is at one moment, while runs go on",
		Long: `Copy the database as it is at one moment into a new file, while runs go on. The file
is there once it is whole and on the disk, and not before.

In the copy nobody moves the runs that are moved here: ebb resume --dsn FILE RUN goes
on with one from where the copy has it. Do not go on with a run both there and here.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := sqlstore.Backup(cmd.Context(), s.dsn, args[0], s.storing()...)
			if errors.Is(err, fs.ErrExist) {
				return usagef("%s is there already; name another file", args[0])
			}
			if err != nil {
				return unreachable(err)
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			if s.output == asJSON {
				return view.NewJSON(s.out).Encode(struct {
					File  string `json:"file"`
					Bytes int64  `json:"bytes"`
				}{args[0], info.Size()})
			}
			_, err = fmt.Fprintf(s.out, "%s, %.1f MB\n", visible.Line(args[0]), float64(info.Size())/1e6)
			return err
		},
	}
}
