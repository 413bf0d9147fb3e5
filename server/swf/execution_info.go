package swf

import (
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

// An executionInfo describes an execution in lists and descriptions.
type executionInfo struct {
	Execution       swf.Execution  `json:"execution"`
	Type            swf.Type       `json:"workflowType"`
	Started         *aws.Time      `json:"startTimestamp"`
	Closed          *aws.Time      `json:"closeTimestamp,omitempty"`
	Status          string         `json:"executionStatus"`
	CloseStatus     string         `json:"closeStatus,omitempty"`
	Parent          *swf.Execution `json:"parent,omitempty"`
	TagList         []string       `json:"tagList,omitempty"`
	CancelRequested bool           `json:"cancelRequested"`
}

func (x *execution) info() executionInfo {
	info := executionInfo{
		Execution: x.is(), Type: x.Type, Started: aws.At(x.run.Created), Status: "OPEN", Parent: x.Parent, TagList: x.TagList,
		CancelRequested: !x.run.State.Ended() && x.run.Labels[swf.LabelCancelRequested] != "",
	}
	if x.run.State.Ended() {
		info.Status, info.Closed, info.CloseStatus = "CLOSED", aws.At(x.run.Ended), x.closeStatus()
	}
	return info
}
