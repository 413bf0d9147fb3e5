package tasks

import (
	"errors"
	"io"
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
)

// A chain names objects that are read one after the other. Its places are those that at returns.
type chain interface {
	// open moves to the object at a place. "" is the first. It returns the facts needed to read it, or io.EOF if there
	// is none.
	open(at string) (place, *asl.ReaderConfig, error)
	// behind returns the place after the opened object.
	behind() string
}

// flattened returns the items of all objects of a chain.
type flattened struct {
	items  items
	chain  chain
	object string // place of the current object
	inside source // nil if no object is open
	from   string // place within the next opened object
}

func (t items) openAll(c chain, from string) (source, error) {
	f := &flattened{items: t, chain: c, object: from}
	if i := strings.LastIndexByte(from, '\n'); i >= 0 { // a key may contain line breaks
		f.object, f.from = from[:i], from[i+1:]
	}
	return f, nil
}

func (f *flattened) Close() error {
	if f.inside == nil {
		return nil
	}
	return f.inside.Close()
}

func (f *flattened) next() (asl.Item, error) {
	for {
		if f.inside == nil {
			p, config, err := f.chain.open(f.object)
			if err != nil {
				return asl.Item{}, err
			}
			if f.inside, err = f.items.openObject(&p, config, f.from); err != nil {
				return asl.Item{}, err
			}
		}
		item, err := f.inside.next()
		if err == nil {
			item.Next = f.object + "\n" + item.Next
			return item, nil
		}
		if !errors.Is(err, io.EOF) {
			return item, err
		}
		if err := f.inside.Close(); err != nil {
			return item, err
		}
		f.inside, f.object, f.from = nil, f.chain.behind(), ""
	}
}

// A listed is the chain of the objects of a listing. The place of an object is the key of the one before, after a
// slash, so that it is never empty.
type listed struct {
	items   items
	place   place
	config  *asl.ReaderConfig
	objects *objects // nil until the first object is opened
	last    string
}

func (l *listed) open(at string) (_ place, _ *asl.ReaderConfig, err error) {
	if l.objects == nil {
		if l.objects, err = l.items.openList(&l.place, strings.TrimPrefix(at, "/")); err != nil {
			return place{}, nil, err
		}
	}
	object, err := l.objects.object()
	l.last = object.Key
	return place{Bucket: l.place.Bucket, Key: object.Key}, l.config, err
}

func (l *listed) behind() string { return "/" + l.last }
