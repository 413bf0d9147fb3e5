package swf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// FlowName is the name of the flow of all executions.
const FlowName = "swf"

// A Start is an execution that is to start. Its configuration must be complete. It is stored as the attributes of the run.
type Start struct {
	Domain     string `json:"domain"`
	WorkflowID string `json:"workflowId"`
	Type       Type   `json:"workflowType"`
	Configuration
	TagList []string `json:"tagList,omitempty"`
	// Parent is the execution whose decision started this one; nil for none. ParentInitiatedEventID is the event in the
	// history of the parent.
	Parent                 *Execution `json:"parent,omitempty"`
	ParentInitiatedEventID int64      `json:"parentInitiatedEventId,omitempty"`
	// ContinuedExecutionRunID is the run that continued as this one; "" for none.
	ContinuedExecutionRunID string `json:"continuedExecutionRunId,omitempty"`
}

// Child returns the run of the execution. id is its runId, see [RunID].
func (s *Start) Child(id string, input *string) (*flow.Child, error) {
	attributes, err := atom.Encode(s)
	if err != nil {
		return nil, fmt.Errorf("swf: the start of execution %q: %w", s.WorkflowID, err)
	}
	return &flow.Child{
		ID: id, Flow: FlowName, Labels: s.Labels(), Attributes: attributes, Input: Text(input),
	}, nil
}

// Text returns a string as JSON, and null for nil. Results of activities and details of heartbeats have this form.
func Text(s *string) atom.Value {
	if s == nil {
		return atom.Null
	}
	return atom.MustEncode(*s)
}

// maxPart is the length in bytes above which a hash stands for a name in a key or label.
const maxPart = 120

// Key returns the key of the open execution with that workflowId, which at most one run has.
func Key(domain, workflowID string) string {
	return "swf/" + shorten(domain) + "/" + shorten(workflowID)
}

// RunID returns a new runId from random bits.
func RunID(random func() uint64) string { return fmt.Sprintf("%016x%016x", random(), random()) }

// The labels of the runs of executions, by which they are listed.
const (
	LabelDomain      = "swf.domain"
	LabelWorkflowID  = "swf.workflowId"
	LabelTypeName    = "swf.type"
	LabelTypeVersion = "swf.version"
	// LabelCloseStatus is set when the execution closes: COMPLETED, FAILED, CANCELED, TERMINATED, CONTINUED_AS_NEW or
	// TIMED_OUT.
	LabelCloseStatus = "swf.close"
	// LabelCancelRequested is "true" after a request to cancel the execution.
	LabelCancelRequested = "swf.cancelRequested"
)

// LabelTag returns the label that an execution with the tag has. Its value is "true".
func LabelTag(tag string) string { return "swf.tag." + shorten(tag) }

// LabelValue returns the value of a label for a name. If the name is long, or has characters that labels do not have, the
// value is a hash of the name.
func LabelValue(name string) string { return shorten(name) }

// Labels returns the labels of the run.
func (s *Start) Labels() map[string]string {
	labels := map[string]string{
		LabelDomain: LabelValue(s.Domain), LabelWorkflowID: LabelValue(s.WorkflowID),
		LabelTypeName: LabelValue(s.Type.Name), LabelTypeVersion: LabelValue(s.Type.Version),
	}
	for _, tag := range s.TagList {
		labels[LabelTag(tag)] = "true"
	}
	return labels
}

// shorten returns a text, or a hash of it that differs from each text that shorten returns as it is.
func shorten(s string) string {
	if len(s) <= maxPart && !strings.HasPrefix(s, "sha256:") && !strings.ContainsFunc(s, unicode.IsControl) && utf8.ValidString(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// DecisionQueue returns the queue of the decision tasks on a task list.
func DecisionQueue(domain, list string) string {
	return "swf/decision/" + shorten(domain) + "/" + shorten(list)
}

// ActivityQueue returns the queue of the activity tasks on a task list.
func ActivityQueue(domain, list string) string {
	return "swf/activity/" + shorten(domain) + "/" + shorten(list)
}
