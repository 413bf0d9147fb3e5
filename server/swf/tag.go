package swf

import (
	"context"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
)

// A tag is a label that a client gives a domain.
type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// tagged returns tags with others added: of tags with the same key, the last one counts.
func (s *Server) tagged(tags, added []tag) ([]tag, error) {
	tags = slices.Clone(tags)
	for _, t := range added {
		if at := slices.IndexFunc(tags, func(old tag) bool { return old.Key == t.Key }); at >= 0 {
			tags[at] = t
		} else {
			tags = append(tags, t)
		}
	}
	return tags, s.quotas.Within(QuotaDomainTags, int64(len(tags)), tooManyTags)
}

// domainOf returns the key of the domain with an ARN, or AWS's fault.
func (s *Server) domainOf(caller *aws.Caller, arn string) (string, error) {
	of := s.config.Account.Of(caller)
	name, ours := strings.CutPrefix(arn, of.ARN("swf", "/domain/"))
	if !ours {
		return "", aws.Errorf(unknownResource, "Unknown resource: %s", arn)
	}
	return s.config.Account.Key(of, name), nil
}

type tagResourceInput struct {
	ofResource

	Tags []tag `json:"tags"`
}

func (s *Server) tagResource(ctx context.Context, caller *aws.Caller, in *tagResourceInput) (*empty, error) {
	name, err := s.domainOf(caller, in.ARN)
	if err != nil {
		return nil, err
	}
	return nil, s.changeDomain(ctx, name, func(d *domain) (err error) {
		d.Tags, err = s.tagged(d.Tags, in.Tags)
		return err
	})
}

type untagResourceInput struct {
	ofResource

	Keys []string `json:"tagKeys"`
}

func (s *Server) untagResource(ctx context.Context, caller *aws.Caller, in *untagResourceInput) (*empty, error) {
	name, err := s.domainOf(caller, in.ARN)
	if err != nil {
		return nil, err
	}
	return nil, s.changeDomain(ctx, name, func(d *domain) error {
		d.Tags = slices.DeleteFunc(d.Tags, func(t tag) bool { return slices.Contains(in.Keys, t.Key) })
		return nil
	})
}

type listTagsOutput struct {
	Tags []tag `json:"tags"`
}

func (s *Server) listTagsForResource(ctx context.Context, caller *aws.Caller, in *ofResource) (*listTagsOutput, error) {
	name, err := s.domainOf(caller, in.ARN)
	if err != nil {
		return nil, err
	}
	d, err := s.domain(ctx, name)
	if err != nil {
		return nil, err
	}
	return &listTagsOutput{append([]tag{}, d.Tags...)}, nil
}
