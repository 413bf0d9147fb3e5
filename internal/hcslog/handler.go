package hcslog

import (
	"context"
	"log/slog"
	"slices"

	"github.com/hashicorp/go-hclog"
)

// Slog returns a logger of log/slog that writes to an hclog logger. If that logger is of [Logger], Slog returns a
// logger of the original handler, with the attributes that were added since.
func Slog(l hclog.Logger) *slog.Logger {
	own, is := l.(*logger)
	if !is {
		return slog.New(&handler{to: l})
	}
	to := slog.New(&leveled{own})
	if own.name != "" {
		to = to.With("logger", own.name)
	}
	return to.With(own.implied...)
}

// A leveled handler is the handler of a logger, at the level that was set on the logger.
type leveled struct{ of *logger }

// Enabled implements [slog.Handler].
func (h *leveled) Enabled(ctx context.Context, level slog.Level) bool {
	return h.of.is(ctx, levelOf(level))
}

// Handle implements [slog.Handler].
func (h *leveled) Handle(ctx context.Context, r slog.Record) error {
	return h.of.handler.Handle(ctx, r) //nolint:wrapcheck // the caller owns the handler
}

// WithAttrs implements [slog.Handler].
func (h *leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	made := *h.of
	made.handler = made.handler.WithAttrs(attrs)
	return &leveled{&made}
}

// WithGroup implements [slog.Handler].
func (h *leveled) WithGroup(name string) slog.Handler {
	made := *h.of
	made.handler = made.handler.WithGroup(name)
	return &leveled{&made}
}

// levelOf returns the highest level of hclog that is not above a level of slog.
func levelOf(level slog.Level) hclog.Level {
	for l := hclog.Error; l > hclog.Trace; l-- {
		if level >= levels[l] {
			return l
		}
	}
	return hclog.Trace
}

// A handler writes the records of slog to an hclog logger. A group is a prefix of the keys in it.
type handler struct {
	to    hclog.Logger
	group string
	args  []any
}

// Enabled implements [slog.Handler].
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return levelOf(level) >= h.to.GetLevel()
}

// Handle implements [slog.Handler].
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	args := slices.Clone(h.args)
	r.Attrs(func(a slog.Attr) bool {
		args = pairs(args, h.group, a)
		return true
	})
	h.to.Log(levelOf(r.Level), r.Message, args...)
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	made := *h
	made.args = slices.Clone(h.args)
	for _, a := range attrs {
		made.args = pairs(made.args, h.group, a)
	}
	return &made
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	made := *h
	if name != "" {
		made.group += name + "."
	}
	return &made
}

// pairs appends an attribute in hclog's form, and the members of a group one by one.
func pairs(args []any, group string, a slog.Attr) []any {
	value := a.Value.Resolve()
	switch {
	case a.Equal(slog.Attr{}):
		return args
	case value.Kind() != slog.KindGroup:
		return append(args, group+a.Key, value.Any())
	case a.Key != "":
		group += a.Key + "."
	}
	for _, member := range value.Group() {
		args = pairs(args, group, member)
	}
	return args
}
