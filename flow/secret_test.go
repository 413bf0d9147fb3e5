package flow_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestSecrets shows what of a plan is secret: symbols everywhere, and results
// that cannot be masked in part.
func TestSecrets(t *testing.T) {
	t.Parallel()
	type account struct {
		User  string `json:"user"`
		Token string `json:"token"`
	}
	login := func(context.Context, struct{}) (account, error) { return account{}, nil }
	use := func(context.Context, struct {
		Token string `json:"token"`
	},
	) (string, error) {
		return "", nil
	}
	pair := func(context.Context, atom.Values) (any, error) { return []string{"", ""}, nil }
	for name, tc := range map[string]struct {
		flow             flow.Node
		symbols, results []string
	}{
		"none":     {flow.Linear("f", atom.Func("login", login)), nil, nil},
		"a member": {flow.Linear("f", atom.Func("login", login, atom.Secret("token"))), []string{"token"}, nil},
		"by who takes it": {
			flow.Linear("f", atom.Func("login", login), atom.Func("use", use, atom.Secret("token"))),
			[]string{"token"},
			nil,
		},
		"a whole result": {
			flow.Linear("f", atom.Func("login", login, atom.Secret())),
			[]string{"token", "user"},
			[]string{"login"},
		},
		"under a name": {
			flow.Linear("f", atom.Func("login", login, atom.As("account"), atom.Secret("account"))),
			[]string{"account"},
			[]string{"login"},
		},
		"an element": {
			flow.Linear("f", atom.Untyped("p", pair, nil, atom.Provides("a", "b"), atom.Secret("b"))),
			[]string{"b"},
			[]string{"p"},
		},
		"nothing provided": {flow.Linear("f", atom.Untyped("p", pair, nil, atom.Secret())), nil, []string{"p"}},
	} {
		plan, err := flow.Compile(tc.flow, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff([][]string{tc.symbols, tc.results}, [][]string{plan.Secrets, plan.SecretResults}); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}
