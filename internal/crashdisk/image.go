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
	// Note is for the test: the state of the world at that moment.
	Note any

	names []imageName
}

type imageName struct {
	base      string
	now, disk *content // the same if the name is durable
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
	// The order is fixed, so that a seed always gives the same folder.
	slices.SortFunc(img.names, func(a, b imageName) int { return strings.Compare(a.base, b.base) })
	return img
}

func (c *content) clone() *content {
	if c == nil {
		return nil
	}
	// Changes never change after they were added.
	return &content{now: slices.Clone(c.now), synced: slices.Clone(c.synced), pending: slices.Clone(c.pending)}
}

// Kill writes the folder to dir as a killed process leaves it: with everything that was written.
func (i *Image) Kill(dir string) error {
	var errs []error
	for _, n := range i.names {
		if n.now != nil {
			errs = append(errs, layOut(dir, n.base, n.now.now))
		}
	}
	return errors.Join(errs...)
}

// Restart writes the folder to dir as Kill does, and watches it as [Watch] does. The process was killed, but the
// machine is up. Data that was not synced is still in memory: the next process reads it, and a power cut before a sync
// loses it. The same holds for data that a failed sync lost.
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

// PowerCut writes the folder to dir as a power cut may leave it: everything that was synced, and a random part of the
// rest.
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

// sector is the number of bytes that a disk may write as a unit.
const sector = 512

// cut returns the possible rest of a file.
func (c *content) cut(rng *rand.Rand) []byte {
	// Nearly nothing, nearly everything, and all between are equally likely.
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

// Images watches dir, calls f, and returns n images, or fewer if there were fewer syncs. It takes them at syncs that
// rng selects, each equally likely, and returns them in order. If note is not nil, Images calls it for each image, and
// its result is the image's Note, for example what had been acknowledged by then. note must not use a database of the
// folder.
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
