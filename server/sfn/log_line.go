package sfn

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/storage"
)

// Levels of a LoggingConfiguration, besides OFF.
const (
	levelAll   = "ALL"
	levelError = "ERROR"
	levelFatal = "FATAL"
)

// A logLine is a line of a log group: an event of an execution in the form of CloudWatch Logs.
//
//nolint:tagliatelle // AWS's names
type logLine struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Details  json.RawMessage `json:"details"`
	Previous string          `json:"previous_event_id"`
	Time     string          `json:"event_timestamp"` // in milliseconds
	ARN      string          `json:"execution_arn"`
	MapRun   string          `json:"map_run_arn,omitempty"`
	Redrives string          `json:"redrive_count"`
}

// logged reports whether the level of a machine includes an event.
func logged(level, event string) bool {
	switch level {
	case levelAll:
		return true
	case levelError:
		return isFatal(event) || isError(event)
	case levelFatal:
		return isFatal(event)
	default:
		return false
	}
}

// isFatal reports whether an event ends an execution without success.
func isFatal(event string) bool {
	return event == "ExecutionAborted" || event == "ExecutionFailed" || event == "ExecutionTimedOut"
}

// isError reports whether an event is one of the level ERROR.
func isError(event string) bool {
	if event == "FailStateEntered" {
		return true
	}
	for _, end := range []string{"Failed", "TimedOut", "Aborted"} {
		if strings.HasSuffix(event, end) {
			return true
		}
	}
	return false
}

// lines returns the log lines of events, and the number of the last event.
func (x *execution) lines(entries []storage.Entry) (text []byte, last int64, err error) {
	log := x.API.Settings.Logging
	v := historyView{execution: x, data: log.Data}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for i := range entries {
		e := &entries[i]
		last = e.Number
		if !logged(log.Level, e.Type) {
			continue
		}
		line := logLine{
			ID: strconv.FormatInt(e.Number, 10), Type: e.Type, Details: jsontext.NewWriter().Bytes(),
			Previous: strconv.FormatInt(e.Prev, 10), Time: strconv.FormatInt(e.Time.UnixMilli(), 10),
			ARN: x.ExecutionID, MapRun: x.MapRun, Redrives: strconv.FormatInt(x.redrives(), 10),
		}
		if member := detailsMember(e.Type); member != "" {
			if line.Details, err = v.details(member, e); err != nil {
				return nil, 0, err
			}
		}
		if err := encoder.Encode(line); err != nil {
			return nil, 0, err
		}
	}
	return out.Bytes(), last, nil
}

// logGroup returns the name of the log group of the execution; "" if it does not log.
func (x *execution) logGroup() string {
	if x.API.Settings == nil {
		return ""
	}
	return x.API.Settings.logGroup()
}

// logGroup returns the name of the log group of a machine; "" if the machine does not log.
func (s *settings) logGroup() string {
	l := s.Logging
	if l == nil || l.Level == "" || l.Level == levelOff || len(l.Destinations) == 0 || l.Destinations[0].Group == nil {
		return ""
	}
	name, _ := logGroupName(l.Destinations[0].Group.ARN)
	return name
}
