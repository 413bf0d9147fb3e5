package flow

import (
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/clip"
)

// An ItemFailure says why an item of an [EachFlow] failed, see [EachFlow.FailuresAs].
type ItemFailure struct {
	Index   int    `json:"index"`   // of the item in the list, from 0
	Code    string `json:"code"`    // code of the failure
	Message string `json:"message"` // at most 256 bytes of it
}

// MaxItemFailures is how many failures [EachFlow.FailuresAs] lists.
const MaxItemFailures = 1000

// maxItemMessage is how many bytes of a message the list has.
const maxItemMessage = 256

// FailuresAs makes the node also provide the failures that [EachFlow.Tolerate] allowed. The symbol is a list of
// [ItemFailure], in the order of the items. Of more than [MaxItemFailures], the list has those that came first.
func (f *EachFlow) FailuresAs(symbol string) *EachFlow { f.failures = symbol; return f }

// Members of the result of a node that also provides its failures.
const (
	resultsMember  = "results"
	failuresMember = "failures"
)

// withFailures joins the results to the failures of the items, where the node provides these.
func (w *working) withFailures(results atom.Value) atom.Value {
	if !w.listFailures {
		return results
	}
	list := make([]ItemFailure, 0, len(w.Lost))
	for _, i := range w.Lost {
		of := ItemFailure{Index: i}
		if past, ok := w.ask.Recall(strconv.Itoa(i)); ok && past.Failure != nil {
			of.Code, of.Message = past.Failure.Code, clip.Text(past.Failure.Message, maxItemMessage)
		}
		list = append(list, of)
	}
	return atom.MustEncode(map[string]any{resultsMember: results, failuresMember: list})
}
