package crashdisk

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An Image is a watched folder at one moment.
type Image struct {
	// Note is for the test: what the world looked like at that moment.
	Note any

	names []imageName
}

type imageName struct {
	base      string
	now, disk *content // the same when the name is durable
}

// Image returns the present content of the folder. Later changes of the folder do not
// change the image.
func (d *Disk) Image() *Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	img := &Image{}
	for base, n := range d.names {
		one := imageName{base: base, now: n.now.clone()}
		if one.disk = one.now; n.disk != n.now {
			one.disk = n.disk.clone()
		}
		img.names = append(img.names, one)
	}
	// Always in one order, or the same seed would not give the same folder.
	slices.SortFunc(img.names, func(a, b imageName) int { return strings.Compare(a.base, b.base) })
	return img
}

func (c *content) clone() *content {
	if c == nil {
		return nil
	}
	// Changes are never changed themselves.
	return &content{now: slices.Clone(c.now), synced: slices.Clone(c.synced), pending: slices.Clone(c.pending)}
}

// Kill lays the folder out in dir as it is when the process was killed: all that
// was written is there.
func (i *Image) Kill(dir string) error {
	var errs []error
	for _, n := range i.names {
		if n.now != nil {
			errs = append(errs, layOut(dir, n.base, n.now.now))
		}
	}
	return errors.Join(errs...)
}

// Restart lays the folder out in dir as Kill does, and watches it as [Watch] does:
// the process was killed and the machine is up. What was not synced is in its
// memory still, where the next process finds it, and gone when the power is cut
// before a sync; what a failed sync lost can be read and is gone then, too.
func (i *Image) Restart(tb testing.TB, dir string) *Disk {
	tb.Helper()
	if err := i.Kill(dir); err != nil {
		tb.Fatal(err)
	}
	d := Watch(tb, dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range i.names {
		n := &name{now: one.now.clone()}
		if n.disk = n.now; one.disk != one.now {
			n.disk = one.disk.clone()
		}
		d.names[one.base] = n
	}
	return d
}

// PowerCut lays the folder out in dir as it may be after a power cut: all that
// was synced is there, of the rest what rng says.
func (i *Image) PowerCut(dir string, rng *rand.Rand) error {
	var errs []error
	for _, n := range i.names {
		c := n.disk
		if n.now != n.disk && rng.IntN(2) == 0 {
			c = n.now
		}
		if c != nil {
			errs = append(errs, layOut(dir, n.base, c.cut(rng)))
		}
	}
	return errors.Join(errs...)
}

func layOut(dir, base string, text []byte) error {
	return os.WriteFile(filepath.Join(dir, base), text, 0o600)
}

// sector is how much a disk writes as a whole, if it does.
const sector = 512

// cut returns what may be left of a file.
func (c *content) cut(rng *rand.Rand) []byte {
	// Nearly nothing, nearly all, and all between are equally likely.
	share := rng.Float64()
	out := slices.Clone(c.synced)
	for _, one := range c.pending {
		if one.data == nil {
			if rng.Float64() < share {
				out = one.apply(out)
			}
			continue
		}
		for rest := one; len(rest.data) > 0; {
			n := min(int(sector-rest.offset%sector), len(rest.data))
			piece := change{rest.offset, rest.data[:n]}
			rest = change{rest.offset + int64(n), rest.data[n:]}
			if rng.Float64() >= share {
				continue
			}
			if rng.IntN(8) == 0 {
				piece.data = piece.data[:rng.IntN(n)+1] // torn
			}
			out = piece.apply(out)
		}
	}
	return out
}

// Images watches dir, calls f, and returns n images (fewer when there were fewer
// syncs), taken at syncs that rng chose, each as likely as any other, in the order
// in which they were taken. When note is not nil it is called for each at its
// moment, and its answer is the image's Note: for what had been acknowledged by
// then. Note must use no database of the folder.
func Images(tb testing.TB, dir string, n int, rng *rand.Rand, note func() any, f func()) []*Image {
	tb.Helper()
	d := Watch(tb, dir)
	type taken struct {
		at    int
		image *Image
	}
	var chosen []taken
	syncs := 0
	d.OnOp(func(op Op) {
		if op.Kind != Sync {
			return
		}
		syncs++
		place := len(chosen)
		if place == n {
			if place = rng.IntN(syncs); place >= n {
				return
			}
		} else {
			chosen = append(chosen, taken{})
		}
		img := d.Image()
		if note != nil {
			img.Note = note()
		}
		chosen[place] = taken{syncs, img}
	})
	f()
	d.OnOp(nil)
	slices.SortFunc(chosen, func(a, b taken) int { return a.at - b.at })
	out := make([]*Image, len(chosen))
	for i := range chosen {
		out[i] = chosen[i].image
	}
	return out
}
