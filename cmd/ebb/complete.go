package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// completion is how a token is to end its atom.
type completion struct {
	result atom.Value
	code   string
	cause  string
}

func (s *session) completeCommand() *cobra.Command {
	var c completion
	var result string
	cmd := &cobra.Command{
		Use:   "complete TOKEN",
		Short: "End the atom that waits for whoever has the token",
		Long: `End the atom that waits for whoever has the token, with a result, or with --error as
failed. A token is used once: who is too late is told so, and the exit status is 2.`,
		Example: `  ebb complete 7QK2… --result '"Ann"'
  ebb complete 7QK2… --error Refused --cause 'too expensive'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.cause != "" && c.code == "" {
				return usagef("--cause says why it failed; say with --error how")
			}
			c.result = atom.Null
			if result != "" {
				var err error
				if c.result, err = s.value("--result", result); err != nil {
					return err
				}
			}
			return s.complete(cmd.Context(), args[0], &c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&result, "result", "", "its result: JSON, @FILE, or - for standard input (default null)")
	flags.StringVar(&c.code, "error", "", "let it fail with this code")
	flags.StringVar(&c.cause, "cause", "", "with --error: why")
	cmd.MarkFlagsMutuallyExclusive("result", "error")
	return cmd
}

func (s *session) complete(ctx context.Context, token string, c *completion) error {
	// Looked at first: a database that is not there is not made for this.
	err := s.reading(ctx, func(store storage.Store) error { _, err := findToken(ctx, store, token); return err })
	if err != nil {
		return err
	}
	return s.withStore(ctx, func(store storage.Store) error {
		was, err := findToken(ctx, store, token)
		if err != nil {
			return err
		}
		how := "completed"
		var failure *atom.Failure
		if c.code != "" {
			how, failure = "failed", &atom.Failure{Atom: was.Path, Attempt: was.Attempt, Code: c.code, Message: c.cause}
			c.result = nil
		}
		switch ended, err := store.EndToken(ctx, token, c.result, failure); {
		case errors.Is(err, storage.ErrGone):
			now, err := findToken(ctx, store, token)
			if err != nil {
				return err
			}
			return usagef("the token is for %s of run %s, %s", now.Path, now.Run, tokenEnds[now.State])
		case err != nil:
			return unreachable(err)
		default:
			was = ended
		}
		if err := s.completed(&was, how); err != nil {
			return err
		}
		return s.noticeUnmoved(ctx, store, was.Run)
	})
}

func (s *session) completed(t *storage.Token, how string) error {
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(struct {
			Event   string `json:"event"` // "completed" or "failed"
			Run     string `json:"run"`
			Path    string `json:"path"`
			Attempt int    `json:"attempt"`
		}{how, t.Run, t.Path, t.Attempt})
	}
	_, err := fmt.Fprintf(s.out, "%s %s is %s\n", visible.Line(t.Run), visible.Line(t.Path), how)
	return err
}

// tokenEnds is why a token is no longer open.
var tokenEnds = map[storage.TokenState]string{
	storage.TokenCompleted: "which somebody has completed already",
	storage.TokenFailed:    "which has failed already: somebody said so, or its time was up",
	storage.TokenExpired:   "whose time was up",
	storage.TokenGone:      "whose attempt is over",
}

func findToken(ctx context.Context, store storage.Reader, id string) (storage.Token, error) {
	t, err := store.Token(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return t, &statusError{status: exitNotFound, err: fmt.Errorf("there is no token %s (ebb why RUN tells those that are open)", id)}
	}
	return t, unreachable(err)
}
