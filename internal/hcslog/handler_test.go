package hcslog_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/hcslog"
)

// TestSlogWritesToHclog: a program's slog entries arrive in an hclog logger, with levels, attributes and groups.
func TestSlogWritesToHclog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	to := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info, DisableTime: true, Name: "ebb"}).With("run", "r")
	l := hcslog.Slog(to).With("a", 1)
	l.Debug("not logged")
	l.Info("first", "b", 2)
	l.WithGroup("g").With("c", 3).Warn("second", slog.Group("h", "d", 4), slog.Group("", "e", 5), slog.Attr{}) //nolint:loggercheck // they are attributes
	l.Log(t.Context(), slog.LevelError+4, "third")
	want := `[INFO]  ebb: first: run=r a=1 b=2
[WARN]  ebb: second: run=r a=1 g.c=3 g.h.d=4 g.e=5
[ERROR] ebb: third: run=r a=1
`
	if out.String() != want {
		t.Errorf("logged\n%swant\n%s", &out, want)
	}
}

// TestSlogReturnsToItsHandler: a slog logger that was wrapped in hclog and unwrapped writes to its own handler.
func TestSlogReturnsToItsHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	own := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	between := hcslog.Logger(own)
	l := hcslog.Slog(between.With("run", "r").Named("n")).WithGroup("g").With("a", 1)
	l.Debug("not logged")
	l.Info("first", "b", 2)
	between.SetLevel(hclog.Error)
	l.Warn("not logged")
	if got, want := strings.TrimSpace(out.String()), "level=INFO msg=first logger=n run=r g.a=1 g.b=2"; got != want {
		t.Errorf("logged %s, want %s", got, want)
	}
}
