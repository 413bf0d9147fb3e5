package sfn

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// A tag is a label that a client gives a machine or an activity.
type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// tagged returns tags with others added: of tags with the same key, the last one counts.
func (s *Server) tagged(tags, added []tag, arn string) ([]tag, error) {
	tags = slices.Clone(tags)
	for _, t := range added {
		if at := slices.IndexFunc(tags, func(old tag) bool { return old.Key == t.Key }); at >= 0 {
			tags[at] = t
		} else {
			tags = append(tags, t)
		}
	}
	if most, limited := s.quotas.Value(QuotaTags); limited && int64(len(tags)) > most {
		e := aws.Errorf("TooManyTags", "You've exceeded the number of tags allowed for a resource, which is %d.", most)
		e.Fields = map[string]any{"resourceName": arn}
		return nil, e
	}
	return tags, nil
}

// changeTags lets do change the tags of the machine or the activity with an ARN.
func (s *Server) changeTags(ctx context.Context, arn string, do func(tags []tag) ([]tag, error)) error {
	a, err := s.address(arn, machineType, activityType)
	if err != nil {
		return err
	}
	if !a.ours || a.label != "" || len(a.rest) > 0 {
		return noResource(arn)
	}
	return records.Retried(ctx, func() error {
		write, tags, err := s.tagWrite(ctx, a)
		if errors.Is(err, storage.ErrNotFound) {
			return noResource(arn)
		}
		if err != nil {
			return err
		}
		next, err := do(*tags)
		if err != nil || slices.Equal(next, *tags) {
			return err
		}
		*tags = next
		_, err = s.store.WriteRecords(ctx, write())
		return err
	})
}

// tagWrite returns the tags of a resource, and what writes the resource with them.
func (s *Server) tagWrite(ctx context.Context, a *address) (write func() storage.RecordWrite, tags *[]tag, err error) {
	if a.kind == activityType {
		v, err := s.activity(ctx, a.name)
		if err != nil {
			return nil, nil, err
		}
		return v.write, &v.Tags, nil
	}
	m, err := s.machineNamed(ctx, a.name)
	if err != nil {
		return nil, nil, err
	}
	return m.write, &m.Tags, nil
}
