package hcslog_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/hcslog"
)

// TestLogger logs with every method, and reads the entries.
func TestLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := hcslog.Logger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug, AddSource: true,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			if source, is := a.Value.Any().(*slog.Source); is {
				return slog.Bool("here", strings.HasSuffix(source.File, "logger_test.go"))
			}
			return a
		},
	})))
	said := func(want string) {
		t.Helper()
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("logged %s, want %s", got, want)
		}
		out.Reset()
	}
	l.Trace("no")
	said("")
	l.Debug("a", "k", 1)
	said(`{"level":"DEBUG","here":true,"msg":"a","k":1}`)
	named := l.Named("ebb").With("run", "r-1").Named("board")
	named.Info("b", "err", errors.New("bad"), "odd")
	said(`{"level":"INFO","here":true,"msg":"b","logger":"ebb.board","run":"r-1","err":"bad","` + hclog.MissingKey +
		`":"odd"}`)
	named.Warn("c", 7, hclog.Fmt("%d of %d", 1, 2))
	said(`{"level":"WARN","here":true,"msg":"c","logger":"ebb.board","run":"r-1","7":"1 of 2"}`)
	named.ResetNamed("x").Error("d")
	said(`{"level":"ERROR","here":true,"msg":"d","logger":"x","run":"r-1"}`)
	l.Log(hclog.Warn, "e")
	said(`{"level":"WARN","here":true,"msg":"e"}`)
	l.Log(hclog.Off, "no")
	said("")
	l.StandardLogger(nil).Print("f")
	if !strings.Contains(out.String(), `"level":"INFO"`) || !strings.Contains(out.String(), `"msg":"f"`) {
		t.Errorf("logged %s", &out)
	}
	out.Reset()
	l.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Error}).Print("g")
	if !strings.Contains(out.String(), `"level":"ERROR"`) {
		t.Errorf("logged %s", &out)
	}
	out.Reset()

	if l.IsTrace() || !l.IsDebug() || !l.IsInfo() || !l.IsWarn() || !l.IsError() || l.GetLevel() != hclog.Debug ||
		named.Name() != "ebb.board" {
		t.Errorf("it is at %v, and named %q", l.GetLevel(), named.Name())
	}
	if implied := named.ImpliedArgs(); len(implied) != 2 {
		t.Errorf("implied is %v", implied)
	}
	l.SetLevel(hclog.Off) // but not for loggers of another name
	if l.IsError() || !named.IsInfo() {
		t.Error("a level is for another name")
	}
	l, named = named, named.With("a", 1)
	l.SetLevel(hclog.Warn) // also for loggers made from it
	named.Info("no")
	said("")
	if named.IsInfo() || l.GetLevel() != hclog.Warn {
		t.Errorf("it is at %v", l.GetLevel())
	}
	l.SetLevel(hclog.Off)
	named.Error("no")
	said("")
	if l.GetLevel() != hclog.Off {
		t.Errorf("it is at %v", l.GetLevel())
	}
}
