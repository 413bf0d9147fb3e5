package swf

import (
	"github.com/ebbflow/ebb/atom"
)

// The calls to the run of an open execution, by which the API acts on it.
const (
	CallSignal        = "signal"        // the body is a [Signal]
	CallRequestCancel = "requestCancel" // no body
	CallTerminate     = "terminate"     // the body is a [Termination]
)

// A Signal is the body of [CallSignal].
type Signal struct {
	SignalName string  `json:"signalName"`
	Input      *string `json:"input,omitempty"`
}

// A Termination is the body of [CallTerminate].
type Termination struct {
	Reason  *string `json:"reason,omitempty"`
	Details *string `json:"details,omitempty"`
	// ChildPolicy is applied to the open children; "" is the execution's own policy.
	ChildPolicy string `json:"childPolicy,omitempty"`
}

// A Fault is the error of a call that the model refuses. Type is the name of the error that the caller of the API gets.
type Fault struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// The types of faults with which the model refuses calls.
const (
	FaultUnknownResource = "UnknownResourceFault"
	FaultValidation      = "ValidationException"
	FaultSerialization   = "SerializationException"
)

func (f *Fault) value() atom.Value { return atom.MustEncode(f) }
