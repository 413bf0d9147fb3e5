package swf

import (
	"context"
	"encoding/json"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

type registerActivityTypeInput struct {
	swf.ActivityDefaults
	typeMembers
}

func (s *Server) registerActivityType(ctx context.Context, _ *aws.Caller, in *registerActivityTypeInput) (*empty, error) {
	r, err := in.registration(in.ActivityDefaults)
	if err != nil {
		return nil, err
	}
	return nil, s.register(ctx, activityTypes, in.Domain, r)
}

type activityTypeInput struct {
	ofDomain

	Type swf.Type `json:"activityType"`
}

type activityTypeInfo struct {
	Type swf.Type `json:"activityType"`
	typeInfo
}

type describeActivityTypeOutput struct {
	Info          activityTypeInfo `json:"typeInfo"`
	Configuration json.RawMessage  `json:"configuration"`
}

func (s *Server) describeActivityType(ctx context.Context, _ *aws.Caller, in *activityTypeInput) (
	*describeActivityTypeOutput, error,
) {
	r, err := s.describeType(ctx, activityTypes, in.Domain, in.Type)
	if err != nil {
		return nil, err
	}
	return &describeActivityTypeOutput{activityTypeInfo{r.Type, r.info()}, r.Defaults}, nil
}

func (s *Server) deprecateActivityType(ctx context.Context, _ *aws.Caller, in *activityTypeInput) (*empty, error) {
	return nil, s.deprecateType(ctx, activityTypes, in.Domain, in.Type)
}

func (s *Server) undeprecateActivityType(ctx context.Context, _ *aws.Caller, in *activityTypeInput) (*empty, error) {
	return nil, s.undeprecateType(ctx, activityTypes, in.Domain, in.Type)
}

func (s *Server) deleteActivityType(ctx context.Context, _ *aws.Caller, in *activityTypeInput) (*empty, error) {
	return nil, s.deleteType(ctx, activityTypes, in.Domain, in.Type)
}

type listActivityTypesOutput struct {
	Infos     []activityTypeInfo `json:"typeInfos"`
	NextToken string             `json:"nextPageToken,omitempty"`
}

func (s *Server) listActivityTypes(ctx context.Context, caller *aws.Caller, in *listTypesInput) (
	*listActivityTypesOutput, error,
) {
	out := &listActivityTypesOutput{Infos: []activityTypeInfo{}}
	var err error
	out.NextToken, err = s.listTypes(ctx, activityTypes, in.page("ListActivityTypes", caller, in.arguments()...), in,
		func(r *registration) { out.Infos = append(out.Infos, activityTypeInfo{r.Type, r.info()}) })
	return out, err
}
