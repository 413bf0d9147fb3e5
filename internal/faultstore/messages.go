package faultstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func (f *store) Send(ctx context.Context, messages ...storage.Message) error {
	return f.do(ctx, Call{Method: "Send"}, func() error { return f.Store.Send(ctx, messages...) })
}

func (f *store) EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "EndToken"}, func() (storage.Token, error) {
		return f.Store.EndToken(ctx, id, end)
	})
}

func (f *store) Beat(ctx context.Context, id string) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "Beat"}, func() (storage.Token, error) { return f.Store.Beat(ctx, id) })
}

func (f *store) Messages(ctx context.Context, run string, after int64) (wakeups int64, messages []storage.Message,
	err error,
) {
	err = f.do(ctx, Call{Method: "Messages", Run: run}, func() (err error) {
		wakeups, messages, err = f.Store.Messages(ctx, run, after)
		return err
	})
	return wakeups, messages, err
}

func (f *store) RunsWithMessages(ctx context.Context, since int64) (changed []backend.Arrival, now int64, err error) {
	err = f.do(ctx, Call{Method: "RunsWithMessages"}, func() (err error) {
		changed, now, err = f.Store.RunsWithMessages(ctx, since)
		return err
	})
	return changed, now, err
}

func (f *store) KeepToken(ctx context.Context, id string, k storage.Heartbeat) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "KeepToken"}, func() (storage.Token, error) {
		return f.Store.KeepToken(ctx, id, k)
	})
}

func (f *store) TakeToken(ctx context.Context, q storage.WorkRequest) (t storage.Token, err error) {
	err = f.do(ctx, Call{Method: "TakeToken"}, func() (err error) {
		t, err = f.Store.TakeToken(ctx, q)
		return err
	})
	return t, err
}

func (f *store) Stopping(ctx context.Context, run string, ancestors int) ([]string, error) {
	return answer(ctx, f, Call{Method: "Stopping", Run: run}, func() ([]string, error) {
		return f.Store.Stopping(ctx, run, ancestors)
	})
}

func (f *store) Received(ctx context.Context, run, key string) (bool, error) {
	return answer(ctx, f, Call{Method: "Received", Run: run}, func() (bool, error) {
		return f.Store.Received(ctx, run, key)
	})
}

func (f *store) ParkedMessages(ctx context.Context, limit int) ([]storage.Outgoing, error) {
	return answer(ctx, f, Call{Method: "ParkedMessages"}, func() ([]storage.Outgoing, error) {
		return f.Store.ParkedMessages(ctx, limit)
	})
}

func (f *store) AwaitEnd(ctx context.Context, run string) (storage.Run, error) {
	return answer(ctx, f, Call{Method: "AwaitEnd", Run: run}, func() (storage.Run, error) {
		return f.Store.AwaitEnd(ctx, run)
	})
}

func (f *store) AwaitToken(ctx context.Context, t storage.WorkRequest, wait time.Duration,
	enough <-chan struct{},
) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "AwaitToken"}, func() (storage.Token, error) {
		return f.Store.AwaitToken(ctx, t, wait, enough)
	})
}

func (f *store) Outgoing(ctx context.Context, now time.Time, limit int) ([]storage.Outgoing, error) {
	return answer(ctx, f, Call{Method: "Outgoing"}, func() ([]storage.Outgoing, error) {
		return f.Store.Outgoing(ctx, now, limit)
	})
}

func (f *store) Sent(ctx context.Context, n ...int64) error {
	return f.do(ctx, Call{Method: "Sent"}, func() error { return f.Store.Sent(ctx, n...) })
}

func (f *store) RunOutbox(ctx context.Context, run string, limit int) ([]storage.Outgoing, error) {
	return answer(ctx, f, Call{Method: "RunOutbox", Run: run}, func() ([]storage.Outgoing, error) {
		return f.Store.RunOutbox(ctx, run, limit)
	})
}

func (f *store) Unsent(ctx context.Context, out storage.Outgoing) error {
	return f.do(ctx, Call{Method: "Unsent", Run: out.Run}, func() error { return f.Store.Unsent(ctx, out) })
}
