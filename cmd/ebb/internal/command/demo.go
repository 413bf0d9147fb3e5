package command

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

// demoFiles are those of examples/03_trip that the demo needs. A test compares them.
//
//go:embed demo
var demoFiles embed.FS

func (s subcommands) demoCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Book a trip whose payment is declined, and see it undone",
		Long: `Book a flight, a hotel and a car. The payment is declined, so the bookings are undone, last
first. The demo needs nothing but a shell, books nothing, and leaves nothing behind. With
--dir it leaves its files and its database in that folder, to look at and to change.`,
		Example: `  ebb demo
  ebb demo --dir trip`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.demo(cmd.Context(), dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "leave the files and the database in this folder, which must not exist")
	return cmd
}

func (s subcommands) demo(ctx context.Context, dir string) (err error) {
	if _, err := exec.LookPath("sh"); err != nil {
		return exit.Usagef("the demo's programs are shell scripts, and there is no sh: %w", err)
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ebb-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // files that a user wants to look at
		if errors.Is(err, fs.ErrExist) {
			return exit.Usagef("--dir: %s is there already: name a new folder", dir)
		}
		return exit.Usagef("--dir: %w", err)
	} else {
		defer func() {
			s.Noticef("the files and the database are in %s: cd %s && ebb show trip; ebb run trip.asl.json", dir, dir)
		}()
	}
	if err := unpackDemo(dir); err != nil {
		return err
	}
	s.DSN = "sqlite:" + filepath.Join(dir, "ebb.db")
	return s.run(ctx, filepath.Join(dir, "trip.asl.json"), &runFlags{id: "trip", expect: "REVERTED"})
}

// unpackDemo writes the demo's files.
func unpackDemo(dir string) error {
	files, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if filepath.Ext(name) == ".sh" {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, mode); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		return nil
	})
}
