package command

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database at one moment, while runs continue",
		Long: `Copy the database at one moment into a new file, while runs continue. The file
appears when it is complete and on the disk. Meanwhile the write-ahead log grows.

In the copy no process drives the runs. ebb resume --dsn FILE RUN resumes a run from
its state in the copy. Do not resume a run both in the copy and in the original.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := sqlstore.Backup(cmd.Context(), s.DSN, args[0], s.StoreOptions()...)
			if errors.Is(err, fs.ErrExist) {
				return exit.Usagef("%s exists already; name another file", args[0])
			}
			if err != nil {
				return exit.DatabaseError(err)
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			return s.Emit(struct {
				File  string `json:"file"`
				Bytes int64  `json:"bytes"`
			}{args[0], info.Size()}, "%s, %.1f MB", visible.Line(args[0]), float64(info.Size())/1e6)
		},
	}
}
