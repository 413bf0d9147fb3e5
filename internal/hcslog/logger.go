package hcslog

import (
	"context"
	"fmt"
	"io"
	"log" //nolint:depguard // hclog.Logger has a method that returns one
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// LevelTrace is slog's level for hclog's trace: below debug.
const LevelTrace = slog.LevelDebug - 4

// Logger returns a logger that writes to the handler of another: with slog's levels, the names of named loggers as the
// attribute "logger", and arguments as attributes. It makes no record that the handler does not want. A level that is
// set on it holds for it and loggers made from it, in addition to the handler's own. For nil it returns nil, which the
// options that take a logger refuse.
func Logger(log *slog.Logger) hclog.Logger {
	if log == nil {
		return nil
	}
	return &logger{handler: log.Handler(), level: new(atomic.Int32)}
}

type logger struct {
	handler slog.Handler
	name    string
	implied []any
	level   *atomic.Int32 // hclog's level, shared by loggers of the same name made from it; NoLevel is the handler's own
}

var _ hclog.Logger = (*logger)(nil)

// levels maps hclog's levels to slog's.
var levels = map[hclog.Level]slog.Level{
	hclog.Trace: LevelTrace, hclog.Debug: slog.LevelDebug, hclog.Info: slog.LevelInfo, hclog.Warn: slog.LevelWarn,
	hclog.Error: slog.LevelError,
}

func (l *logger) is(ctx context.Context, level hclog.Level) bool {
	as, known := levels[level]
	if least := hclog.Level(l.level.Load()); !known || least == hclog.Off || level < least {
		return false
	}
	return l.handler.Enabled(ctx, as)
}

// log logs at a level, for a method that the caller of the logger has called.
func (l *logger) log(level hclog.Level, msg string, args []any) {
	if !l.is(context.Background(), level) {
		return
	}
	var caller [1]uintptr
	const between = 3 // Callers, this function, and Info or the like
	runtime.Callers(between, caller[:])
	r := slog.NewRecord(time.Now(), levels[level], msg, caller[0])
	if l.name != "" {
		r.AddAttrs(slog.String("logger", l.name))
	}
	add(&r, l.implied)
	add(&r, args)
	_ = l.handler.Handle(context.Background(), r) // the caller of a log method cannot handle the error
}

// add adds hclog's pairs to a record. A value without a key gets hclog's key for it.
func add(r *slog.Record, args []any) {
	for pair := range slices.Chunk(args, 2) { //nolint:mnd // a key and a value
		if len(pair) == 1 {
			r.AddAttrs(slog.Any(hclog.MissingKey, pair[0]))
			continue
		}
		key, is := pair[0].(string)
		if !is {
			key = fmt.Sprint(pair[0])
		}
		switch value := pair[1].(type) {
		case hclog.Format:
			if format, is := value[0].(string); is {
				r.AddAttrs(slog.String(key, fmt.Sprintf(format, value[1:]...)))
			}
		default:
			r.AddAttrs(slog.Any(key, value))
		}
	}
}

func (l *logger) Log(level hclog.Level, msg string, args ...any) { l.log(level, msg, args) }
func (l *logger) Trace(msg string, args ...any)                  { l.log(hclog.Trace, msg, args) }
func (l *logger) Debug(msg string, args ...any)                  { l.log(hclog.Debug, msg, args) }
func (l *logger) Info(msg string, args ...any)                   { l.log(hclog.Info, msg, args) }
func (l *logger) Warn(msg string, args ...any)                   { l.log(hclog.Warn, msg, args) }
func (l *logger) Error(msg string, args ...any)                  { l.log(hclog.Error, msg, args) }

func (l *logger) IsTrace() bool { return l.is(context.Background(), hclog.Trace) }
func (l *logger) IsDebug() bool { return l.is(context.Background(), hclog.Debug) }
func (l *logger) IsInfo() bool  { return l.is(context.Background(), hclog.Info) }
func (l *logger) IsWarn() bool  { return l.is(context.Background(), hclog.Warn) }
func (l *logger) IsError() bool { return l.is(context.Background(), hclog.Error) }

func (l *logger) ImpliedArgs() []any { return l.implied }

func (l *logger) With(args ...any) hclog.Logger {
	made := *l
	made.implied = append(slices.Clone(l.implied), args...)
	return &made
}

func (l *logger) Name() string { return l.name }

func (l *logger) Named(name string) hclog.Logger {
	if l.name != "" {
		name = l.name + "." + name
	}
	return l.ResetNamed(name)
}

func (l *logger) ResetNamed(name string) hclog.Logger {
	made := *l
	made.name, made.level = name, new(atomic.Int32)
	made.level.Store(l.level.Load())
	return &made
}

func (l *logger) SetLevel(level hclog.Level) { l.level.Store(int32(level)) }

// GetLevel returns the lowest level that is logged.
func (l *logger) GetLevel() hclog.Level {
	for level := hclog.Trace; level <= hclog.Error; level++ {
		if l.is(context.Background(), level) {
			return level
		}
	}
	return hclog.Off
}

func (l *logger) StandardLogger(opts *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(l.StandardWriter(opts), "", 0)
}

// StandardWriter returns a writer that logs each write: at info, as hclog does, or at the level that the options force.
func (l *logger) StandardWriter(opts *hclog.StandardLoggerOptions) io.Writer {
	level := hclog.Info
	if opts != nil && opts.ForceLevel != hclog.NoLevel {
		level = opts.ForceLevel
	}
	return &lines{l, level}
}

type lines struct {
	to    *logger
	level hclog.Level
}

func (w *lines) Write(text []byte) (int, error) {
	w.to.log(w.level, strings.TrimRight(string(text), "\n"), nil)
	return len(text), nil
}
