package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestSecretsAreNotShown runs a flow in Go with secrets in its input and its
// results, and looks for them in all that the command says about the run.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")
	store, err := sqlstore.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	login := atom.Untyped("login", func(ctx context.Context, _ atom.Values) (any, error) {
		atom.Progress(ctx, 0.5, map[string]any{"token": secret, "step": "half"})
		return map[string]string{"token": secret, "user": "alice"}, nil
	}, nil, atom.Requires("password"), atom.ProvidesFields("token", "user"), atom.Secret("password", "token"))
	sign := atom.Untyped("sign", func(context.Context, atom.Values) (any, error) { return secret, nil }, nil, atom.Secret())
	fail := atom.Func("fail", func(context.Context, struct{}) (int, error) { return 0, errors.New("no") })
	eng, err := engine.New(flow.Linear("f", login, sign, fail), store, engine.With(atom.NewKey[string]("password"), secret))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err == nil {
		t.Fatal("the run succeeded")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`→ {"token":"***","user":"alice"}`:        {"why", "r"},
		`login  STAYS_DONE`:                       {"show", "r"},
		`"details":{"step":"half","token":"***"}`: {"show", "-o", "json", "r"},
		`"result":"***"`:                          {"history", "-o", "json", "r"},
		`"input":{"password":"***"}`:              {"list", "-o", "json"},
	} {
		var out bytes.Buffer
		status := execute(t.Context(), append(args, "--dsn", dsn), strings.NewReader(""), &out, &out)
		if got := out.String(); status != exit.Success || strings.Contains(got, secret) || !strings.Contains(got, want) {
			t.Errorf("ebb %s exits %d, and says not %s, or the secret:\n%s", strings.Join(args, " "), status, want, got)
		}
	}
}
