package grow

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

// CorrelationLabel returns the name of the label of runs that wait for events with an attribute of that value. A run
// has this label, with the value [Correlated], as long as it waits. A language sets the label with [Growth.Labels]. The
// receiver of an event finds the runs by the label and sends the event to all of them. Each run still checks whether
// the event is for it. If the text is long, or not every database can store it, CorrelationLabel hashes it.
func CorrelationLabel(attribute, value string) string {
	what := attribute + "=" + value
	if len(what) > maxCorrelation || strings.IndexByte(what, 0) >= 0 || !utf8.ValidString(what) {
		sum := sha256.Sum256([]byte(what))
		what = hex.EncodeToString(sum[:])
	}
	return "event." + what
}
