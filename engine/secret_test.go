package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestSecretsAreMasked runs a flow with a secret in its input, in a member of a result, in a whole result and in
// details of progress. All views mask it. Atoms receive it unmasked.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	login := atom.Func("login", func(ctx context.Context, in struct {
		Password string `json:"password"`
	},
	) (out struct {
		Token string `json:"token"`
		User  string `json:"user"`
	}, err error,
	) {
		if in.Password != secret {
			t.Errorf("login was given %q", in.Password)
		}
		atom.Progress(ctx, 0.5, map[string]string{"token": secret})
		out.Token, out.User = secret, "alice"
		return out, nil
	}, atom.Secret("password", "token"))
	sign := atom.Func("sign", func(_ context.Context, in struct {
		Token string `json:"token"`
	},
	) (string, error) {
		if in.Token != secret {
			t.Errorf("sign was given %q", in.Token)
		}
		return secret, nil
	}, atom.As("signature"), atom.Secret())
	fail := atom.Func("fail", func(context.Context, struct{}) (int, error) { return 0, errors.New("no") })

	var logs bytes.Buffer
	var told []string
	store := memstore.New()
	eng, err := engine.New(flow.Linear("f", login, sign, fail), store, engine.With(atom.NewKey[string]("password"), secret),
		engine.WithLogger(hclog.New(&hclog.LoggerOptions{Output: &logs, Level: hclog.Trace})),
		engine.WithObserver(func(ev engine.Event) { told = append(told, fmt.Sprintf("%+v %s %s", ev, ev.Result, ev.Details)) }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err == nil {
		t.Fatal("the run succeeded")
	}
	all := strings.Join(told, "\n")
	if strings.Contains(all, secret) || strings.Contains(logs.String(), secret) {
		t.Errorf("the secret is shown:\n%s\n%s", all, &logs)
	}
	for _, want := range []string{`{"token":"***","user":"alice"}`, `"***"`, `{"token":"***"}`} {
		if !strings.Contains(all, want) {
			t.Errorf("observers were not told %s:\n%s", want, all)
		}
	}
	head, err := store.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got := head.Secrets.Mask("", head.Input.Data).String(); got != `{"password":"***"}` {
		t.Errorf("the input is shown as %s", got)
	}
}
