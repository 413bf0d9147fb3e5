package command

import (
	"cmp"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/internal/buildinfo"
)

func (s subcommands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of Ebb, its commit and the date of the commit",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			version, revision, date := buildinfo.Read()
			return s.Emit(map[string]string{
				"version": version, "revision": revision, "date": date,
				"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			}, "ebb %s, commit %s of %s (%s, %s/%s)",
				version, cmp.Or(revision, "unknown"), cmp.Or(date, "an unknown date"),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
