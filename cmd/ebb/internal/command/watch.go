package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
)

// watchEvery is the pause between two frames of a command that is watched.
const watchEvery = 2 * time.Second

// watchable adds --watch to a command that shows something.
func (s subcommands) watchable(cmd *cobra.Command) *cobra.Command {
	watch := false
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again every two seconds, until Ctrl-C")
	show := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !watch:
			return show(cmd, args)
		case s.JSON():
			return exit.Usagef("--watch goes without -o json")
		}
		return s.watch(cmd.Context(), func(ctx context.Context) error {
			cmd.SetContext(ctx)
			return show(cmd, args)
		})
	}
	return cmd
}

// watch shows what a command writes, again and again, until Ctrl-C. On a terminal each frame replaces the one before.
// Elsewhere a frame is written when it differs from the one before.
func (s subcommands) watch(ctx context.Context, show func(context.Context) error) error {
	ctx, stop := drive.Interruptible(ctx)
	defer stop()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for last := ""; ; {
		frame, err := s.frame(func() error { return show(ctx) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.draw(frame, last); err != nil {
			return err
		}
		last = frame
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// frame returns the standard output of a command. It drops notices, which would stay between the frames.
func (s subcommands) frame(show func() error) (string, error) {
	var text bytes.Buffer
	out, errs := s.Out, s.Err
	s.Out, s.Err = &view.Output{To: &text, JSON: s.JSON}, &view.Output{To: io.Discard, JSON: s.JSON}
	defer func() { s.Out, s.Err = out, errs }()
	err := show()
	return text.String(), err
}

// draw shows a frame.
func (s subcommands) draw(frame, last string) error {
	if s.Out.Terminal() == nil {
		if frame == last {
			return nil
		}
		if last != "" {
			frame = "\n" + frame
		}
		_, err := io.WriteString(s.Out, frame)
		return err
	}
	width, height := s.ScreenSize()
	lines := strings.Split(strings.TrimSuffix(frame, "\n"), "\n")
	if most := max(height-1, 1); len(lines) > most {
		lines = lines[:most]
	}
	var b strings.Builder
	b.WriteString("\x1b[H") // to the corner, and clear each line as it is written, so that nothing flickers
	for _, line := range lines {
		b.WriteString(view.Page{Width: width}.Cut(line) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	_, err := fmt.Fprint(s.Out.Screen(), b.String())
	return err
}
