package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestDiskProperty runs random flows on a SQLite file, and takes images of the file at random syncs. It writes each
// image as a killed process or a power cut leaves it, and resumes the run there in the world of that moment. The run
// ends like the undisturbed one (G1, G5).
//
// Guarantee (G5): Random flows end the same when resumed from images of a SQLite file after a kill or power cut.
// Also: ; 100,000 flows in `make soak`: `TestSoak`.
func TestDiskProperty(t *testing.T) {
	const times = 30
	check(t, times, func(rt *rapid.T) { goOnFromImages(t, rt) })
}

func goOnFromImages(t *testing.T, rt *rapid.T) {
	f := anyFlow(rt)
	c := anyConditions(rt)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "moments"), 0))
	powerCut := rapid.Bool().Draw(rt, "power cut")

	world := newEffects(c.seed)
	var alone *account
	var images []*crashdisk.Image
	synctest.Test(t, func(t *testing.T) {
		where := onDisk{t.TempDir()}
		images = crashdisk.Images(t, where.dir, 2, rng, func() any { return world.clone() }, func() { alone = runIn(t, where, f, c, world) })
	})
	alone.report(rt, f, c)
	for _, image := range images {
		var got *account
		synctest.Test(t, func(t *testing.T) {
			where := onDisk{t.TempDir()}
			crashdisk.Watch(t, where.dir) // for speed: syncs do not wait for the disk
			err := image.Kill(where.dir)
			if powerCut {
				err = image.PowerCut(where.dir, rng)
			}
			if err != nil {
				t.Fatal(err)
			}
			got = runIn(t, where, f, c, image.Note.(*effects))
		})
		got.report(rt, f, c)
		if diff := cmp.Diff(alone.upshot, got.upshot); diff != "" && !alone.stuck && !got.stuck {
			rt.Fatalf("%s\n%+v\nends otherwise than alone (-alone +gone on with):\n%s", f, c, diff)
		}
	}
}

// onDisk is a place in a folder.
type onDisk struct{ dir string }

func (p onDisk) open(ctx context.Context) (backend.Store, error) {
	return sqlstore.Open(ctx, "sqlite:"+filepath.Join(p.dir, "ebb.db"))
}

func (p onDisk) died(backend.Store) error {
	return errors.New("a process that dies on disk is an image")
}
