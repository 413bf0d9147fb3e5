package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// answerTime is how long a request waits until the run has answered its command.
//
//limit:http wait for the run's answer to a command | {} | `sent`
const answerTime = 5 * time.Second

// Sent says that a message is in the inbox of a run, or that the run has applied it. The process that drives the run
// applies it.
type Sent struct {
	Event   string `json:"event"` // "sent" or "applied"
	Run     string `json:"run"`
	Command string `json:"command"` // such as "cancel"
}

// Bodies of commands.
type (
	cancelBody struct {
		Reason string `json:"reason,omitempty"  text:"is stored with the run"`
		NoUndo bool   `json:"no_undo,omitempty" text:"revert nothing"`
	}
	retryBody struct {
		From  string                `json:"from,omitempty"  text:"path of the atom to resume from; empty is where it failed"`
		Input map[string]atom.Value `json:"input,omitempty" text:"members that replace those of the run's input"`
	}
	revertBody struct {
		To     string `json:"to,omitempty"     text:"undo only the atoms after this one"`
		Reason string `json:"reason,omitempty" text:"is stored with a run that is undone as a whole"`
	}
	atomBody struct {
		Atom string `json:"atom,omitempty" text:"path of the atom whose revert failed; empty for all that failed"`
	}
	signalBody struct {
		Name string     `json:"name"           text:"name of the signal or event"`
		Data atom.Value `json:"data,omitempty" text:"its data; null if left out"`
	}
)

func (b *cancelBody) command() engine.Command {
	if b.NoUndo {
		return engine.Abandon(b.Reason)
	}
	return engine.Cancel(b.Reason)
}

func (b *retryBody) command() engine.Command {
	var inputs []engine.InputOption
	for _, name := range slices.Sorted(maps.Keys(b.Input)) {
		inputs = append(inputs, engine.With(atom.NewKey[atom.Value](name), b.Input[name]))
	}
	return engine.RetryFrom(b.From, inputs...)
}

func (b *revertBody) command() engine.Command {
	if b.To != "" {
		return engine.RevertTo(b.To)
	}
	return engine.Revert(b.Reason)
}

// A commander is the body of a command.
type commander interface{ command() engine.Command }

type resumeBody struct{}

func (*resumeBody) command() engine.Command { return engine.Resume() }

type suspendBody struct{}

func (*suspendBody) command() engine.Command { return engine.Hold() }

type skipBody struct{ atomBody }

func (b *skipBody) command() engine.Command { return engine.Skip(b.Atom) }

type retryRevertBody struct{ atomBody }

func (b *retryRevertBody) command() engine.Command { return engine.RetryRevert(b.Atom) }

// sends returns the handler of a command. It refuses what the record of the run already excludes.
func sends[B any, P interface {
	*B
	commander
}](name string) func(*api, *call) (any, error) {
	return func(a *api, c *call) (any, error) {
		var body B
		if err := c.decode(&body); err != nil {
			return nil, err
		}
		run, err := c.run(a)
		if err != nil {
			return nil, err
		}
		key, err := c.key()
		if err != nil {
			return nil, err
		}
		command := P(&body).command().By(c.issuer())
		why := inspect.Refusal(&run, name)
		if retry, is := any(&body).(*retryBody); is && retry.From == "" && run.State == states.FlowSuccess {
			why = "it has succeeded: name the atom to retry from"
		}
		if why != "" {
			if again, err := a.again(c, run.ID, key); again || err != nil {
				return Sent{"sent", run.ID, name}, err
			}
			refusal := problem(http.StatusConflict, "refused", "run %q is %s: %s", run.ID, run.State, why)
			return nil, cmp.Or(command.Refused(c.Context(), a.store, run.ID, refusal), error(refusal))
		}
		if err := c.claim(a); err != nil {
			return nil, err
		}
		ctx, stop := context.WithTimeout(c.Context(), answerTime)
		defer stop()
		sent := Sent{"sent", run.ID, name}
		applied, err := engine.Apply(ctx, a.store, &run, key, command)
		if applied {
			sent.Event = "applied"
		}
		return sent, err
	}
}

// again reports whether the request repeats one that the run has received. It then gets the same answer, although the
// run may have changed since.
func (a *api) again(c *call, run, key string) (bool, error) {
	if key == "" {
		return false, nil
	}
	return a.store.Received(c.Context(), run, key)
}

// signal sends a signal or an event to a run.
func (a *api) signal(c *call) (any, error) {
	var body signalBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	if err := backend.CheckID("signal", body.Name); err != nil {
		return nil, err
	}
	run, err := c.run(a)
	if err != nil {
		return nil, err
	}
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	if body.Data == nil {
		body.Data = atom.Null
	}
	by := c.issuer()
	signal := storage.Message{
		Run: run.ID, Kind: grow.MessageSignal, Name: body.Name, Key: key, Body: body.Data, Issuer: &by,
	}
	if why := inspect.Refusal(&run, "signal"); why != "" {
		if again, err := a.again(c, run.ID, key); again || err != nil {
			return Sent{"sent", run.ID, "signal"}, err
		}
		refusal := problem(http.StatusConflict, "refused", "run %q is %s: %s", run.ID, run.State, why)
		return nil, cmp.Or(engine.RecordRefused(c.Context(), a.store, signal, refusal), error(refusal))
	}
	if a.options.Languages != nil {
		if why := a.options.Languages.Unheard(c.Context(), &run, body.Name); why != "" {
			refusal := problem(http.StatusConflict, "refused", "%s", why)
			return nil, cmp.Or(engine.RecordRefused(c.Context(), a.store, signal, refusal), error(refusal))
		}
	}
	if err := c.claim(a); err != nil {
		return nil, err
	}
	return Sent{"sent", run.ID, "signal"}, a.store.Send(c.Context(), signal)
}

// Completed is the answer to the command that ends a token: which atom ended.
type Completed struct {
	Event   string `json:"event"` // "completed" or "failed"
	Run     string `json:"run"`
	Path    string `json:"path"`
	Attempt int    `json:"attempt"`
}

type completeBody struct {
	Result atom.Value `json:"result,omitempty" text:"result of the atom; null if left out"`
	Error  string     `json:"error,omitempty"  text:"fail the atom with this code"`
	Cause  string     `json:"cause,omitempty"  text:"with error: the message of the failure"`
}

// complete ends the atom that waits for a token.
func (a *api) complete(c *call) (any, error) {
	var body completeBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	if body.Error != "" && body.Result != nil || body.Error == "" && body.Cause != "" {
		return nil, problem(http.StatusBadRequest, "invalid", "want result, or error with or without cause")
	}
	was, err := a.store.Token(c.Context(), c.PathValue("token"))
	if err != nil {
		return nil, there(err, "such token", "")
	}
	how, failure := "completed", (*atom.Failure)(nil)
	if body.Error != "" {
		how, failure = "failed", &atom.Failure{Atom: was.Path, Attempt: was.Attempt, Code: body.Error, Message: body.Cause}
	} else if body.Result == nil {
		body.Result = atom.Null
	}
	if err := c.claim(a); err != nil {
		return nil, err
	}
	by := c.issuer()
	end := storage.TokenEnd{Result: body.Result, Failure: failure, Issuer: &by}
	ended, err := a.store.EndToken(c.Context(), was.ID, end)
	if errors.Is(err, storage.ErrGone) {
		return nil, cmp.Or(engine.RecordRefused(c.Context(), a.store, storage.Message{
			Run: was.Run, Kind: backend.MessageToken, Path: was.Path, Failure: failure, Issuer: &by,
		}, err), err)
	}
	return Completed{how, ended.Run, ended.Path, ended.Attempt}, err
}
