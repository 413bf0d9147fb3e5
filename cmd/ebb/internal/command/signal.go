package command

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) signalCommand() *cobra.Command {
	var data, key, event string
	cmd := &cobra.Command{
		Use:   "signal RUN [NAME]",
		Short: "Send a signal or an event to a run",
		Long: `Send a signal to a run. The atom that waits for the signal ends with the signal's data.
If no atom waits yet, the signal stays in the run's inbox. Signals with the same --key
count once. For a machine in SM4C the signal is an event of that name; a name that the
machine does not know is refused.

With --event send an event of CloudEvents 1.0, in its JSON form. Events with the same
source and id count once.`,
		Example: `  ebb signal order-1 paid --data '"receipt 17"' --key bank-transfer-99
  ebb signal order-1 --event @paid.json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case event == "" && len(args) != 2:
				return exit.Usagef("ebb signal needs a RUN and a NAME, or a RUN and --event")
			case event != "" && len(args) != 1:
				return exit.Usagef("ebb signal with --event needs a RUN: the event has its name itself")
			case event != "" && data+key != "":
				return exit.Usagef("--event goes without --data and --key: the event has them itself")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if event != "" {
				return s.tellOf(cmd.Context(), args[0], event)
			}
			by := s.Issuer()
			l := storage.Message{
				Run: args[0], Kind: grow.MessageSignal, Name: args[1], Key: key, Body: atom.Null, Issuer: &by,
			}
			if err := backend.CheckID("signal", l.Name); err != nil {
				return exit.Usagef("%w", err)
			}
			if len(key) > backend.MaxID {
				return exit.Usagef("--key %.20q: a key has at most %d bytes", key, backend.MaxID)
			}
			if data != "" {
				var err error
				if l.Body, err = s.Value("--data", data); err != nil {
					return err
				}
			}
			return s.signal(cmd.Context(), &l, "signal "+l.Name, s.hears(l.Name),
				func(store backend.Store) error { return store.Send(cmd.Context(), l) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&data, "data", "", "data of the signal: JSON, @FILE, or - for standard input (default null)")
	flags.StringVar(&key, "key", "", "deduplication key: signals with the same key count once")
	flags.StringVar(&event, "event", "", "a CloudEvent: JSON, @FILE, or - for standard input")
	return cmd
}

// tellOf sends an event to a run.
func (s subcommands) tellOf(ctx context.Context, run, text string) error {
	value, err := s.Value("--event", text)
	if err != nil {
		return err
	}
	e, err := cloudevents.Parse(value.JSON())
	if err != nil {
		return exit.Usagef("--event: %w", err)
	}
	return s.signal(ctx, &storage.Message{Run: run}, "event "+e.Attribute("type"), nil,
		func(store backend.Store) error { return cloudevents.Tell(ctx, store, run, e) })
}

// signal inserts a message into the inbox of a run that has not ended.
func (s subcommands) signal(ctx context.Context, m *storage.Message, what string, may refusal,
	send func(backend.Store) error,
) error {
	return drive.WithRun(ctx, s.Session, m.Run, func(store *sqlstore.Store, run *storage.Run, _ *storage.Owner) error {
		var err error
		if run.State.Ended() {
			err = exit.RunIs(run, "it waits for nothing")
		} else if may != nil {
			err = may(ctx, store, run)
		}
		if exit.Of(err) == exit.Usage { // the run or its machine does not accept the message
			return cmp.Or(exit.DatabaseError(engine.RecordRefused(ctx, store, *m, err)), err)
		}
		if err != nil {
			return err
		}
		if err := send(store); err != nil {
			return exit.DatabaseError(err)
		}
		s.Done = true
		if err := drive.Sent(s.Session, run, what); err != nil {
			return err
		}
		return s.noticeUnmoved(ctx, store, run.ID)
	})
}

// A refusal returns why a signal or event is not sent to a run.
type refusal func(context.Context, backend.Store, *storage.Run) error

// hears refuses a signal that the machine of a run can never use.
func (s subcommands) hears(signal string) refusal {
	return func(ctx context.Context, store backend.Store, run *storage.Run) error {
		if isExecution(run) { // its decider sees every signal
			return nil
		}
		if run.Definition == "" {
			return s.noticeUnawaited(ctx, store, run, signal)
		}
		if why := (&definition.Catalog{Store: store}).Unheard(ctx, run, signal); why != "" {
			return exit.Usagef("%s", why)
		}
		return nil
	}
}

// noticeUnmoved tells the user if no process drives a run that received a message.
func (s subcommands) noticeUnmoved(ctx context.Context, store backend.Store, id string) error {
	run, owner, err := session.FindOwnedRun(ctx, store, id)
	if err != nil || owner != nil || run.State.Ended() {
		return err
	}
	w, err := diagnosisOf(ctx, store, run)
	if err != nil {
		return err
	}
	if view.Hindrance(w, store.Now()) != "" {
		s.Noticef("%s", strings.Join(view.Standing(w, store.Now()), " "))
	}
	return nil
}

// noticeUnawaited tells the sender if no atom of a run of a Go flow waits for the signal now. The signal stays in the
// inbox for an atom that starts later.
func (s subcommands) noticeUnawaited(ctx context.Context, store backend.Store, run *storage.Run, signal string) error {
	if _, err := store.Atom(ctx, run.ID, flow.GrowingPath); !errors.Is(err, storage.ErrNotFound) {
		return exit.DatabaseError(err) // the code of a growing flow decides what it does with a signal
	}
	var awaited []string
	for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{Live: true}) {
		switch {
		case err != nil:
			return exit.DatabaseError(err)
		case a.State != states.TaskRunning || a.Signal == "":
		case a.Signal == signal:
			return nil
		case !slices.Contains(awaited, a.Signal):
			awaited = append(awaited, a.Signal)
		}
	}
	text := "nothing in run %s waits for the signal %s now; it is kept for what may wait later"
	if len(awaited) > 0 {
		text += " (awaited now: " + strings.Join(awaited, ", ") + ")"
	}
	s.Noticef(text, run.ID, signal)
	return nil
}
