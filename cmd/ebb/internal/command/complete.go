package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// completion says how the atom of a token ends.
type completion struct {
	result atom.Value
	code   string
	cause  string
}

func (s subcommands) completeCommand() *cobra.Command {
	var c completion
	var result string
	cmd := &cobra.Command{
		Use:   "complete TOKEN",
		Short: "Complete or fail the atom that waits for a token",
		Long: `Complete the atom that waits for a token with a result, or fail it with --error. A
token can be used once: later attempts are refused, and the exit status is 2.`,
		Example: `  ebb complete 7QK2… --result '"Ann"'
  ebb complete 7QK2… --error Refused --cause 'too expensive'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.cause != "" && c.code == "" {
				return exit.Usagef("--cause needs --error, the code of the failure")
			}
			c.result = atom.Null
			if result != "" {
				var err error
				if c.result, err = s.Value("--result", result); err != nil {
					return err
				}
			}
			return s.complete(cmd.Context(), args[0], &c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&result, "result", "", "result of the atom: JSON, @FILE, or - for standard input (default null)")
	flags.StringVar(&c.code, "error", "", "fail the atom with this code")
	flags.StringVar(&c.cause, "cause", "", "with --error: the message of the failure")
	cmd.MarkFlagsMutuallyExclusive("result", "error")
	return cmd
}

func (s subcommands) complete(ctx context.Context, token string, c *completion) error {
	return s.WithExisting(ctx, func(store *sqlstore.Store) error {
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
		by := s.Issuer()
		end := storage.TokenEnd{Result: c.result, Failure: failure, Issuer: &by}
		switch ended, err := store.EndToken(ctx, token, end); {
		case errors.Is(err, storage.ErrGone):
			now, err := findToken(ctx, store, token)
			if err != nil {
				return err
			}
			why := exit.Usagef("the token is for %s of run %s, %s", now.Path, now.Run, tokenEnds[now.State])
			return cmp.Or(exit.DatabaseError(engine.RecordRefused(ctx, store, storage.Message{
				Run: now.Run, Kind: backend.MessageToken, Path: now.Path, Failure: failure, Issuer: &by,
			}, why)), why)
		case err != nil:
			return exit.DatabaseError(err)
		default:
			was, s.Done = ended, true
		}
		if err := s.completed(&was, how); err != nil {
			return err
		}
		return s.noticeUnmoved(ctx, store, was.Run)
	})
}

func (s subcommands) completed(t *storage.Token, how string) error {
	return s.Emit(struct {
		Event   string `json:"event"` // "completed" or "failed"
		Run     string `json:"run"`
		Path    string `json:"path"`
		Attempt int    `json:"attempt"`
	}{how, t.Run, t.Path, t.Attempt}, "%s %s is %s", visible.Line(t.Run), visible.Line(t.Path), how)
}

// tokenEnds says why a token is no longer open.
var tokenEnds = map[storage.TokenState]string{
	storage.TokenCompleted: "which was completed already",
	storage.TokenFailed:    "which has failed already",
	storage.TokenExpired:   "whose time was up",
	storage.TokenGone:      "whose attempt is over",
}

func findToken(ctx context.Context, store backend.Reader, id string) (storage.Token, error) {
	t, err := store.Token(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return t, &exit.Error{
			Status: exit.NotFound,
			Err:    fmt.Errorf("there is no token %s (ebb why RUN shows the open tokens)", id),
		}
	}
	return t, exit.DatabaseError(err)
}
