package doctor

import (
	"context"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// keys checks that each key is held by a run that is open. Otherwise no run could have the key again.
func (d *doctor) keys(ctx context.Context, store *sqlstore.Store) error {
	stray, err := store.StrayKeys(ctx, 0)
	if err != nil || len(stray) == 0 {
		return err
	}
	d.findf("keys", Wrong, "ebb doctor --repair releases them; something other than ebb has changed the tables",
		"%s held by no open run, such as %.80q", view.Count(len(stray), "key"), stray[0])
	return nil
}
