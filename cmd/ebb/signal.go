package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) signalCommand() *cobra.Command {
	var data, key, event string
	cmd := &cobra.Command{
		Use:   "signal RUN [NAME]",
		Short: "Tell a run of a signal or an event that it waits for, or will",
		Long: `Tell a run of a signal. The atom that waits for it ends with the signal's data. One
that comes before anybody waits for it is kept in the run's inbox. Two of the same
--key count once. To a machine in SM4C it is an event of that name; a name that no
event of it has is refused.

With --event the run is told of an event of CloudEvents 1.0, in its JSON form. Two of
the same source and id count once.`,
		Example: `  ebb signal order-1 paid --data '"receipt 17"' --key bank-transfer-99
  ebb signal order-1 --event @paid.json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case event == "" && len(args) != 2:
				return usagef("ebb signal needs a RUN and a NAME, or a RUN and --event")
			case event != "" && len(args) != 1:
				return usagef("ebb signal with --event needs a RUN: the event has its name itself")
			case event != "" && data+key != "":
				return usagef("--event goes without --data and --key: the event has them itself")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if event != "" {
				return s.tellOf(cmd.Context(), args[0], event)
			}
			l := storage.Message{Run: args[0], Kind: storage.MessageSignal, Name: args[1], Key: key, Body: atom.Null}
			switch {
			case l.Name == "" || len(l.Name) > storage.MaxID:
				return usagef("the signal %.20q: a name has 1 to %d bytes", l.Name, storage.MaxID)
			case len(key) > storage.MaxID:
				return usagef("--key %.20q: a key has at most %d bytes", key, storage.MaxID)
			}
			if data != "" {
				var err error
				if l.Body, err = s.value("--data", data); err != nil {
					return err
				}
			}
			return s.signal(cmd.Context(), l.Run, "signal "+l.Name, hears(l.Name), func(store storage.Store) error { return store.Send(cmd.Context(), l) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&data, "data", "", "what it carries: JSON, @FILE, or - for standard input (default null)")
	flags.StringVar(&key, "key", "", "what makes one that is sent again recognisable")
	flags.StringVar(&event, "event", "", "a CloudEvent: JSON, @FILE, or - for standard input")
	return cmd
}

// tellOf tells a run of an event.
func (s *session) tellOf(ctx context.Context, run, text string) error {
	value, err := s.value("--event", text)
	if err != nil {
		return err
	}
	e, err := cloudevents.Parse(value.JSON())
	if err != nil {
		return usagef("--event: %w", err)
	}
	return s.signal(ctx, run, "event "+e.Attribute("type"), nil, func(store storage.Store) error { return cloudevents.Tell(ctx, store, run, e) })
}

// signal inserts a message into the inbox of a run that has not ended.
func (s *session) signal(ctx context.Context, id, what string, may refusal, send func(storage.Store) error) error {
	return s.withRun(ctx, id, func(store storage.Store, run *storage.Run, _ *storage.Owner) error {
		if run.State.Ended() {
			return isWhat(run, "it waits for nothing")
		}
		if may != nil {
			if err := may(ctx, store, run); err != nil {
				return err
			}
		}
		if err := send(store); err != nil {
			return unreachable(err)
		}
		if err := s.sent(run, what); err != nil {
			return err
		}
		return s.noticeUnmoved(ctx, store, run.ID)
	})
}

// A refusal returns why something is not sent to a run.
type refusal func(context.Context, storage.Store, *storage.Run) error

// hears refuses a signal that the machine of a run can never take up.
func hears(signal string) refusal {
	return func(ctx context.Context, store storage.Store, run *storage.Run) error {
		if run.Definition == "" {
			return nil
		}
		m, err := (&definition.Catalog{Store: store}).Machine(ctx, run.Definition)
		if err != nil {
			return nil //nolint:nilerr // the process that can read the definition decides
		}
		if why := m.Unheard(signal); why != "" {
			return usagef("nothing comes of the signal %q: run %s is of the machine %s, and %s", signal, run.ID, run.Flow, why)
		}
		return nil
	}
}

// noticeUnmoved tells the user if no process drives a run for which a message has come.
func (s *session) noticeUnmoved(ctx context.Context, store storage.Store, id string) error {
	run, owner, err := movedBy(ctx, store, id)
	switch {
	case err != nil || owner != nil || run.State.Ended():
	case run.Definition == "":
		s.noticef("nobody moves run %s; it goes on when the program that has the flow %s does", run.ID, run.Flow)
	default:
		s.noticef("nobody moves run %[1]s; go on with: ebb resume %[1]s", run.ID)
	}
	return err
}
