package checkpoint_test

import (
	"testing"

	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestUse: a checkpoint has one change of each token, from what the token was before it.
func TestUse(t *testing.T) {
	t.Parallel()
	var d checkpoint.Draft
	d.Use(backend.TokenUse{Token: storage.Token{ID: "a", Take: 1}, Was: 0})
	d.Use(backend.TokenUse{Token: storage.Token{ID: "b"}, Was: 4})
	d.Use(backend.TokenUse{Token: storage.Token{ID: "a", State: storage.TokenGone}, Was: 1})
	if len(d.Used) != 2 || d.Used[0].Was != 0 || d.Used[0].Token.State != storage.TokenGone || d.Used[1].Was != 4 {
		t.Errorf("got %+v", d.Used)
	}
}
