package command

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/internal/buildinfo"
)

func (s subcommands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of Ebb",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			version, revision := buildinfo.Read()
			return s.Emit(map[string]string{
				"version": version, "revision": revision, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			}, "ebb %s %s (%s, %s/%s)", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
