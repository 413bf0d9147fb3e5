package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// Correlated is the value of labels by which runs are found that wait for events,
// see [CorrelationLabel].
const Correlated = "waits"

// maxCorrelation is the longest label that says what it is for, in bytes.
const maxCorrelation = 200

// CorrelationLabel returns the label that a run has, with the value [Correlated],
// as long as it wants to be told of events that have an attribute of that value. A
// language sets it with [Growth.Labels]; who has an event finds the runs by it, and
// sends it to all of them: a run still looks for itself whether the event is for
// it. What is long, or no text that every database keeps, is hashed.
func CorrelationLabel(attribute, value string) string {
	what := attribute + "=" + value
	if len(what) > maxCorrelation || strings.IndexByte(what, 0) >= 0 || !utf8.ValidString(what) {
		sum := sha256.Sum256([]byte(what))
		what = hex.EncodeToString(sum[:])
	}
	return "event." + what
}
