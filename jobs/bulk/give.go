package bulk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// oneRun is a run that gets the command.
type oneRun struct {
	Item string `json:"item"` // id of the run

	Command string   `json:"command"`
	Reason  string   `json:"reason,omitempty"`
	With    *Options `json:"with,omitempty"`
	By      string   `json:"by"`
}

// give gives the command to a run, unless its records exclude it. A repetition after a crash counts once.
func give(ctx context.Context, store backend.Store, one *oneRun) (string, error) {
	run, err := store.Run(ctx, one.Item)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(one.By))
	key := "bulk/" + hex.EncodeToString(sum[:16])
	in := Input{Command: one.Command, Reason: one.Reason, With: one.With}
	why, err := in.refusal(ctx, store, &run)
	if err != nil {
		return "", err
	}
	if why == "" {
		err := in.send(ctx, store, &run, key, storage.Issuer{Via: storage.ViaBulk, Name: one.By})
		if !refuses(err) {
			return "sent", err
		}
		why = err.Error()
	}
	// Unless the command itself had that effect, before the process died.
	if received, err := store.Received(ctx, run.ID, key); received || err != nil {
		return "sent", err
	}
	return "", &atom.Failure{Code: atom.CodeRefused, Message: refusedBy(&run) + why}
}

// refusedBy begins the text of a refusal.
func refusedBy(run *storage.Run) string { return fmt.Sprintf("run %s is %v: ", run.ID, run.State) }

// refuses reports whether an error says that a run does not take what was sent, rather than that the store failed.
func refuses(err error) bool {
	return errors.Is(err, storage.ErrInvalid) || errors.Is(err, storage.ErrEnded) || errors.Is(err, storage.ErrGone) ||
		errors.Is(err, storage.ErrTaken) || errors.Is(err, storage.ErrFull)
}

// send sends the command to a run.
func (in *Input) send(ctx context.Context, store backend.Store, run *storage.Run, key string, by storage.Issuer) error {
	with := in.with()
	data := with.Data
	if data == nil {
		data = atom.Null
	}
	switch in.Command {
	case "signal":
		return store.Send(ctx, storage.Message{
			Run: run.ID, Kind: grow.MessageSignal, Name: with.Name, Key: key, Body: data, Issuer: &by,
		})
	case "complete":
		tokens, err := in.tokens(ctx, store, run)
		if err != nil || len(tokens) != 1 {
			return err
		}
		_, err = engine.EndToken(ctx, store, tokens[0].ID, storage.TokenEnd{Result: data, Issuer: &by})
		return err
	default:
		return engine.SendOnce(ctx, store, run.ID, key, in.command().By(by))
	}
}

// command returns the command for each run.
func (in *Input) command() engine.Command {
	with := in.with()
	switch {
	case in.Command == "cancel" && with.NoUndo:
		return engine.Abandon(in.Reason)
	case in.Command == "cancel":
		return engine.Cancel(in.Reason)
	case in.Command == "suspend":
		return engine.Hold()
	case in.Command == "revert" && with.Path != "":
		return engine.RevertTo(with.Path)
	case in.Command == "revert":
		return engine.Revert(in.Reason)
	case in.Command == "resume":
		return engine.Resume()
	case in.Command == "retry-revert":
		return engine.RetryRevert(with.Path)
	case in.Command == "skip":
		return engine.Skip(with.Path)
	default:
		return engine.RetryFrom(with.Path)
	}
}

// refusal returns why the records of a run exclude the command; "" if they do not. Whether the run allows it is then
// for the process that drives the run to decide.
func (in *Input) refusal(ctx context.Context, store backend.Store, run *storage.Run) (string, error) {
	if why := inspect.Refusal(run, in.Command); why != "" {
		return why, nil
	}
	with := in.with()
	machine := run.Definition != ""
	switch in.Command {
	case "retry":
		switch {
		case machine && !run.State.Ended():
			return "it has not ended", nil
		case machine && run.Undo == storage.UndoFailed:
			return "its undo failed, and what was undone is never reopened: use retry-revert or skip", nil
		case machine && run.State == states.FlowReverted:
			return "it was undone, and what was undone is never reopened", nil
		case machine && with.Path != "":
			return "a run of a definition is retried where it failed: leave the path out", nil
		case run.State == states.FlowSuccess && with.Path == "":
			return "it has succeeded: name the step to retry from", nil
		}
	case "skip":
		if !machine && with.Path == "" {
			return "name the step to skip", nil
		}
	case "complete":
		tokens, err := in.tokens(ctx, store, run)
		switch {
		case err != nil || len(tokens) == 1:
			return "", err
		case len(tokens) == 0:
			return "no token of it is open", nil
		}
		return fmt.Sprintf("%d tokens of it are open: name the path of one", len(tokens)), nil
	}
	if with.Path == "" {
		return "", nil
	}
	found, err := store.AtomsAt(ctx, run.ID, with.Path)
	switch mends := in.Command == "skip" || in.Command == "retry-revert"; {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "it has no step " + with.Path, nil
	case mends && found[0].State != states.TaskRevertFailure:
		return "no revert of " + with.Path + " has failed", nil
	}
	return "", nil
}

// tokens returns the open tokens of a run that the command is about.
func (in *Input) tokens(ctx context.Context, store backend.Store, run *storage.Run) (about []storage.Token, err error) {
	tokens, err := store.RunTokens(ctx, run.ID)
	for i := range tokens {
		if path := in.with().Path; path == "" || path == tokens[i].Path {
			about = append(about, tokens[i])
		}
	}
	return about, err
}
