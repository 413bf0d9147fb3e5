package session

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/hcslog"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/visible"
)

// LogLevel is the key of a command's annotation that has the command's default of --log-level.
const LogLevel = "log-level"

// Logger returns the log, which goes to standard error.
func (s *Session) Logger() hclog.Logger {
	all, parts, _ := parseLevels(s.level) // Settle checked them
	return &partedLog{s.logger(all), parts}
}

// parseLevels reads levels such as warn,engine=debug: one for all parts of the program, and others for single ones.
func parseLevels(text string) (all hclog.Level, parts map[string]hclog.Level, err error) {
	all, parts = hclog.Off, map[string]hclog.Level{}
	for one := range strings.SplitSeq(text, ",") {
		part, name, single := strings.Cut(one, "=")
		if !single {
			name = part
		}
		level := hclog.LevelFromString(name)
		if level == hclog.NoLevel {
			return 0, nil, exit.Usagef("log level %q is not known (use debug, info, warn, error or off)", name)
		}
		if single {
			parts[part] = level
		} else {
			all = level
		}
	}
	return all, parts, nil
}

// A partedLog has levels for parts of the program, by the names of their loggers. Its lines do not show the names.
type partedLog struct {
	hclog.Logger
	levels map[string]hclog.Level
}

// Named implements [hclog.Logger].
func (l *partedLog) Named(name string) hclog.Logger {
	part := l.ResetNamed(l.Name())
	if level, ok := l.levels[name]; ok {
		part.SetLevel(level)
	}
	return part
}

func (s *Session) logger(level hclog.Level) hclog.Logger {
	if s.format != asJSON {
		return hclog.New(&hclog.LoggerOptions{
			Name: "ebb", Level: level, IndependentLevels: true, Output: view.OneLine{To: s.Err},
		})
	}
	l := hcslog.Logger(slog.New(slog.NewJSONHandler(jsonLog{s.Err}, &slog.HandlerOptions{Level: hcslog.LevelTrace})))
	l.SetLevel(level)
	return l
}

// A jsonLog writes log lines in JSON without invisible characters.
type jsonLog struct{ to io.Writer }

// Write implements [io.Writer].
func (l jsonLog) Write(line []byte) (int, error) {
	_, err := io.WriteString(l.to, visible.JSON(string(line)))
	return len(line), err
}

// Noticef prints a line to standard error. If the log is JSON, the line is an entry of the log.
func (s *Session) Noticef(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.format == asJSON {
		s.logger(hclog.Info).Info(logevent.Notice, "message", text)
		return
	}
	fmt.Fprintln(s.Err, "ebb:", visible.Line(text))
}

// Lines returns a writer of lines of other programs to standard error. If the log is JSON, the lines are entries of the
// log.
func (s *Session) Lines() io.Writer {
	if s.format == asJSON {
		return notices{s}
	}
	return s.Err
}

// notices writes lines as entries of the log.
type notices struct{ *Session }

// Write implements [io.Writer].
func (n notices) Write(line []byte) (int, error) {
	n.Noticef("%s", bytes.TrimRight(line, "\n"))
	return len(line), nil
}

// WarnOf reports a warning about a definition. If the log is JSON, the warning is an entry of the log.
func (s *Session) WarnOf(flow string, warning fmt.Stringer) {
	if s.format == asJSON {
		s.logger(hclog.Warn).Warn(logevent.FlowWarning, "flow", flow, "message", warning.String())
		return
	}
	s.Noticef("warning: %v", warning)
}

// reportError prints why a command failed.
func (s *Session) reportError(err error) {
	text := backend.Reason(err)
	if s.format == asJSON {
		s.logger(hclog.Error).Error(logevent.CommandFailed, "error", text)
		return
	}
	// A line break in an argument, or in a file's name, begins no line that looks like one of Ebb's own.
	fmt.Fprintln(s.Err, "ebb: "+strings.ReplaceAll(text, "\n", "\n  "))
}

// A StandardLog makes debug entries of the lines that packages write to the standard logger. Package net/http writes
// there what servers do wrong, in the servers' words. These lines are not for the operator, and have another form than
// the log.
type StandardLog struct{ Session *Session }

// Write logs a line.
func (l StandardLog) Write(line []byte) (int, error) {
	l.Session.Logger().Debug(logevent.HTTPError, "message", strings.TrimSpace(string(line)))
	return len(line), nil
}
