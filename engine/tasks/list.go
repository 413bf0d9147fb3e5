package tasks

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/ebbflow/ebb/flow/asl"
)

// listPage is the number of objects in one listing.
const listPage = 1000

// objects returns the objects of a bucket, as S3 lists them.
type objects struct {
	bucket Bucket
	place  place
	after  string
	found  []Object
	end    bool
}

func (t items) openList(p *place, from string) (*objects, error) {
	b, err := t.registry.bucket(p.Bucket)
	if err != nil {
		return nil, err
	}
	return &objects{bucket: b, place: *p, after: from}, nil
}

func (*objects) Close() error { return nil }

// object returns the next object, or io.EOF after the last.
func (o *objects) object() (Object, error) {
	if len(o.found) == 0 && !o.end {
		found, err := o.bucket.List(o.place.Prefix, o.after, listPage)
		if err != nil {
			return Object{}, err
		}
		o.found, o.end = found, len(found) < listPage
	}
	if len(o.found) == 0 {
		return Object{}, io.EOF
	}
	next := o.found[0]
	o.found, o.after = o.found[1:], next.Key
	return next, nil
}

func (o *objects) next() (asl.Item, error) {
	found, err := o.object()
	if err != nil {
		return asl.Item{}, err
	}
	tag := strconv.FormatInt(found.Size, 16) + "-" + strconv.FormatInt(found.Modified.UnixNano(), 16)
	value, err := json.Marshal(map[string]any{
		"Etag": `"` + tag + `"`, "Key": found.Key, "LastModified": found.Modified.Unix(), "Size": found.Size,
		"StorageClass": "STANDARD",
	})
	return asl.Item{Value: value, Source: o.place.uri(), Next: found.Key}, err
}
