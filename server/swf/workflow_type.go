package swf

import (
	"context"
	"encoding/json"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

type registerWorkflowTypeInput struct {
	swf.WorkflowDefaults
	typeMembers
}

func (s *Server) registerWorkflowType(ctx context.Context, _ *aws.Caller, in *registerWorkflowTypeInput) (*empty, error) {
	r, err := in.registration(in.WorkflowDefaults)
	if err != nil {
		return nil, err
	}
	return nil, s.register(ctx, workflowTypes, in.Domain, r)
}

type workflowTypeInput struct {
	ofDomain

	Type swf.Type `json:"workflowType"`
}

type workflowTypeInfo struct {
	Type swf.Type `json:"workflowType"`
	typeInfo
}

type describeWorkflowTypeOutput struct {
	Info          workflowTypeInfo `json:"typeInfo"`
	Configuration json.RawMessage  `json:"configuration"`
}

func (s *Server) describeWorkflowType(ctx context.Context, _ *aws.Caller, in *workflowTypeInput) (
	*describeWorkflowTypeOutput, error,
) {
	r, err := s.describeType(ctx, workflowTypes, in.Domain, in.Type)
	if err != nil {
		return nil, err
	}
	return &describeWorkflowTypeOutput{workflowTypeInfo{r.Type, r.info()}, r.Defaults}, nil
}

func (s *Server) deprecateWorkflowType(ctx context.Context, _ *aws.Caller, in *workflowTypeInput) (*empty, error) {
	return nil, s.deprecateType(ctx, workflowTypes, in.Domain, in.Type)
}

func (s *Server) undeprecateWorkflowType(ctx context.Context, _ *aws.Caller, in *workflowTypeInput) (*empty, error) {
	return nil, s.undeprecateType(ctx, workflowTypes, in.Domain, in.Type)
}

func (s *Server) deleteWorkflowType(ctx context.Context, _ *aws.Caller, in *workflowTypeInput) (*empty, error) {
	return nil, s.deleteType(ctx, workflowTypes, in.Domain, in.Type)
}

type listWorkflowTypesOutput struct {
	Infos     []workflowTypeInfo `json:"typeInfos"`
	NextToken string             `json:"nextPageToken,omitempty"`
}

func (s *Server) listWorkflowTypes(ctx context.Context, caller *aws.Caller, in *listTypesInput) (
	*listWorkflowTypesOutput, error,
) {
	out := &listWorkflowTypesOutput{Infos: []workflowTypeInfo{}}
	var err error
	out.NextToken, err = s.listTypes(ctx, workflowTypes, in.page("ListWorkflowTypes", caller, in.arguments()...), in,
		func(r *registration) { out.Infos = append(out.Infos, workflowTypeInfo{r.Type, r.info()}) })
	return out, err
}
