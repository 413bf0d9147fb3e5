package swf

import "github.com/ebbflow/ebb/flow/swf"

type registerActivityTypeInput struct {
	swf.ActivityDefaults
	typeMembers
}

func (in registerActivityTypeInput) defaults() any { return in.ActivityDefaults }

type activityTypeInput struct {
	ofDomain

	Type swf.Type `json:"activityType"`
}

func (in activityTypeInput) named() (domain string, t swf.Type) { return in.Domain, in.Type }

type activityTypeInfo struct {
	Type swf.Type `json:"activityType"`
	typeInfo
}

func activityInfo(r *registration) activityTypeInfo { return activityTypeInfo{r.Type, r.info()} }
