package swf

import "github.com/ebbflow/ebb/flow/swf"

type registerWorkflowTypeInput struct {
	swf.WorkflowDefaults
	typeMembers
}

func (in registerWorkflowTypeInput) defaults() any { return in.WorkflowDefaults }

type workflowTypeInput struct {
	ofDomain

	Type swf.Type `json:"workflowType"`
}

func (in workflowTypeInput) named() (domain string, t swf.Type) { return in.Domain, in.Type }

type workflowTypeInfo struct {
	Type swf.Type `json:"workflowType"`
	typeInfo
}

func workflowInfo(r *registration) workflowTypeInfo { return workflowTypeInfo{r.Type, r.info()} }
