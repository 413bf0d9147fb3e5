package atom_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	type account struct {
		User  string `json:"user"`
		Token string `json:"token"`
	}
	do := func(_ context.Context, _ struct{}) (account, error) { return account{}, nil }
	for name, tc := range map[string]struct {
		opts   []atom.Option
		want   []string
		result bool
	}{
		"none": {nil, nil, false},
		"symbols, each once": {
			[]atom.Option{atom.Secret("token", "password"), atom.Secret("token")},
			[]string{"password", "token"},
			false,
		},
		"the whole result":        {[]atom.Option{atom.Secret()}, []string{"token", "user"}, true},
		"the result under a name": {[]atom.Option{atom.Secret(), atom.As("account")}, []string{"account"}, true},
		"the result and an input": {[]atom.Option{atom.Secret(), atom.Secret("password")}, []string{
			"password", "token",
			"user",
		}, true},
		"an argument of any other": {[]atom.Option{atom.Secret("x")}, []string{"x"}, false},
	} {
		a := atom.Func("login", do, tc.opts...)
		if diff := cmp.Diff(tc.want, a.Secrets()); diff != "" || a.SecretResult() != tc.result {
			t.Errorf("%s: result %v, symbols %s", name, a.SecretResult(), diff)
		}
	}
}
