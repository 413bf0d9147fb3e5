package teststate

import "github.com/ebbflow/ebb/atom"

// The inspection levels of AWS's API: how much of the data a [Response] shows.
const (
	Info  = "INFO"  // status, output, next state and error
	Debug = "DEBUG" // also the data at each step
	Trace = "TRACE" // also the request and response of an HTTP task
)

// A Response is the answer of AWS's API to a call of TestState. Its JSON has AWS's names and forms: values are
// texts that contain JSON.
type Response struct {
	Output     *string         `json:"output,omitempty"`         // output of the state, if it succeeded
	Error      string          `json:"error,omitempty"`          // name of the error
	Cause      string          `json:"cause,omitempty"`          // text of the error
	Inspection *InspectionData `json:"inspectionData,omitempty"` // nil at [Info]
	NextState  string          `json:"nextState,omitempty"`      // name of the state that follows
	Status     string          `json:"status"`                   // [Succeeded], [Failed], [Retriable] or [CaughtError]
}

// InspectionData is an [Inspection] in the form of AWS's API. A field that AWS does not show is nil.
type InspectionData struct {
	Input                      *string       `json:"input,omitempty"`                      // input of the state
	AfterInputPath             *string       `json:"afterInputPath,omitempty"`             // value after InputPath
	AfterParameters            *string       `json:"afterParameters,omitempty"`            // value after Parameters
	AfterArguments             *string       `json:"afterArguments,omitempty"`             // value after Arguments
	AfterItemsPath             *string       `json:"afterItemsPath,omitempty"`             // value after ItemsPath
	AfterItemsPointer          *string       `json:"afterItemsPointer,omitempty"`          // value after ItemsPointer
	AfterItemSelector          *string       `json:"afterItemSelector,omitempty"`          // value after ItemSelector
	AfterItemBatcher           *string       `json:"afterItemBatcher,omitempty"`           // value after ItemBatcher
	Result                     *string       `json:"result,omitempty"`                     // result of the task
	AfterResultSelector        *string       `json:"afterResultSelector,omitempty"`        // value after ResultSelector
	AfterResultPath            *string       `json:"afterResultPath,omitempty"`            // value after ResultPath
	Variables                  *string       `json:"variables,omitempty"`                  // variables after the state
	MaxConcurrency             *int          `json:"maxConcurrency,omitempty"`             // of a Map state
	ToleratedFailureCount      *int64        `json:"toleratedFailureCount,omitempty"`      // of a Map state
	ToleratedFailurePercentage *float64      `json:"toleratedFailurePercentage,omitempty"` // of a Map state
	ErrorDetails               *ErrorDetails `json:"errorDetails,omitempty"`               // handling of an error
	Request                    *HTTPRequest  `json:"request,omitempty"`                    // of an HTTP task, at [Trace]
	Response                   *HTTPResponse `json:"response,omitempty"`                   // of an HTTP task, at [Trace]
}

// Response returns the result in the form of AWS's API, at an inspection level. "" means [Info].
func (r *Result) Response(level string) *Response {
	out := &Response{
		Output: text(r.Output), Error: r.Error, Cause: r.Cause, NextState: r.NextState, Status: r.Status,
	}
	if level != Debug && level != Trace {
		return out
	}
	i := &r.Inspection
	out.Inspection = &InspectionData{
		Input: text(i.Input), AfterInputPath: text(i.AfterInputPath), AfterParameters: text(i.AfterParameters),
		AfterArguments: text(i.AfterArguments), AfterItemsPath: text(i.AfterItemsPath),
		AfterItemsPointer: text(i.AfterItemsPointer), AfterItemSelector: text(i.AfterItemSelector),
		AfterItemBatcher: text(i.AfterItemBatcher), Result: text(i.Result),
		AfterResultSelector: text(i.AfterResultSelector), AfterResultPath: text(i.AfterResultPath),
		Variables: text(i.Variables), MaxConcurrency: i.MaxConcurrency, ToleratedFailureCount: i.ToleratedFailureCount,
		ToleratedFailurePercentage: i.ToleratedFailurePercentage, ErrorDetails: i.ErrorDetails,
	}
	if level == Trace && r.Exchange != nil {
		out.Inspection.Request, out.Inspection.Response = r.Exchange.Request, r.Exchange.Response
	}
	return out
}

// text returns the JSON of a value as a text; nil if there is no value.
func text(v atom.Value) *string {
	if v == nil {
		return nil
	}
	s := string(v.JSON())
	return &s
}
