package swf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// FlowName is the name of the flow of all executions.
const FlowName = "swf"

// A Start is an execution that is to start. Its configuration must be complete. It is stored as the attributes of the
// run.
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
	// Undoes is what the execution undoes; nil for one that has a decider.
	Undoes *Undoing `json:"undoes,omitempty"`
}

// Run returns the run of the execution, for its caller to start. id is its runId, see [RunID].
func (s *Start) Run(id string, input *string) *grow.Child {
	return &grow.Child{
		ID: id, Key: Key(s.Domain, s.WorkflowID), Flow: FlowName, Labels: s.Labels(), Attributes: atom.MustEncode(s),
		Input: Text(input),
	}
}

// Text returns a string as JSON, and null for nil. Results of activities and details of heartbeats have this form.
func Text(s *string) atom.Value {
	if s == nil {
		return atom.Null
	}
	return atom.MustEncode(*s)
}

// The lengths in bytes above which a hash stands for a name in a key, and for the value of a label.
const (
	maxPart  = 120
	maxLabel = 250
)

// Key returns the key of the open execution with that workflowId, which at most one run has.
func Key(domain, workflowID string) string {
	return "swf/" + shorten(domain) + "/" + shorten(workflowID)
}

// RunID returns a new runId from random bits.
func RunID(random func() uint64) string { return fmt.Sprintf("%016x%016x", random(), random()) }

// The labels of the runs of executions, by which they are listed. Their values are those of [LabelValue]: the domain,
// and what the comment says.
const (
	LabelDomain      = "swf.domain"     // nothing else
	LabelWorkflowID  = "swf.workflowId" // the workflowId
	LabelTypeName    = "swf.type"       // the name of the type
	LabelTypeVersion = "swf.version"    // the name and the version of the type
	// LabelCloseStatus is set when the execution closes: COMPLETED, FAILED, CANCELED, TERMINATED, CONTINUED_AS_NEW or
	// TIMED_OUT.
	LabelCloseStatus = "swf.close"
	// LabelCancelRequested is "true" after a request to cancel the execution.
	LabelCancelRequested = "swf.cancelRequested"
	// LabelUndo is the runId of the execution that undoes this one, and LabelUndoes that of the one that this one undoes.
	// The parent of an execution that undoes is the one that it undoes.
	LabelUndo   = "swf.undo"
	LabelUndoes = "swf.undoes"
)

// LabelTag returns the label that an execution with the tag has. Its value is that of [LabelDomain].
func LabelTag(tag string) string { return "swf.tag." + shorten(tag) }

// LabelValue returns the value of a label for a domain and further names. A list by that label has only executions of
// one domain. If the names are long, or have characters that labels do not have, the value is a hash of them.
func LabelValue(domain string, more ...string) string {
	return shortenTo(maxLabel, strings.Join(append([]string{domain}, more...), "/"))
}

// Labels returns the labels of the run.
func (s *Start) Labels() map[string]string {
	labels := map[string]string{
		LabelDomain: LabelValue(s.Domain), LabelWorkflowID: LabelValue(s.Domain, s.WorkflowID),
		LabelTypeName:    LabelValue(s.Domain, s.Type.Name),
		LabelTypeVersion: LabelValue(s.Domain, s.Type.Name, s.Type.Version),
	}
	for _, tag := range s.TagList {
		labels[LabelTag(tag)] = LabelValue(s.Domain)
	}
	return labels
}

// shorten returns a name as a part of a key.
func shorten(s string) string { return shortenTo(maxPart, s) }

// shortenTo returns a text of at most n bytes, or a hash of it that differs from each text that is returned as it is.
func shortenTo(n int, s string) string {
	plain := utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
	if plain && len(s) <= n && !strings.HasPrefix(s, "sha256:") {
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
