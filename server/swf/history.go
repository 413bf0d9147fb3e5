package swf

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// A historyPart is a part of the history of an execution: the events from first to last, both included.
type historyPart struct {
	run         *storage.Run
	first, last int64
	reverse     bool
}

// read reads up to most events after the event with the number after; 0 is the beginning of the part. It returns the
// number of the last event that it read, and whether there are more.
func (h *historyPart) read(ctx context.Context, store backend.Reader, after int64, most int) (
	events []json.RawMessage, last int64, more bool, err error,
) {
	q := storage.EventQuery{After: after, Reverse: h.reverse, Limit: most}
	end := h.last
	switch {
	case h.reverse && after == 0:
		q.After, end = h.last+1, h.first
	case h.reverse:
		end = h.first
	case after == 0:
		q.After = h.first - 1
	}
	entries, err := store.Events(ctx, h.run.ID, q)
	if err != nil {
		return nil, 0, false, err
	}
	events = make([]json.RawMessage, 0, len(entries))
	for i, bytes := 0, 0; i < len(entries) && bytes < storage.PageBytes; i++ {
		n := entries[i].Number
		if n < h.first || n > h.last {
			return events, last, false, nil
		}
		if n == 1 { // the startTimestamp, by which executions are found
			entries[i].Time = h.run.Created
		}
		event, err := wireEvent(&entries[i])
		if err != nil {
			return nil, 0, false, err
		}
		events, last, bytes = append(events, event), n, bytes+len(event)
	}
	return events, last, len(events) > 0 && last != end, nil
}

// wireEvent returns an event as clients receive it. Its attributes are sent as they were stored.
func wireEvent(e *storage.Entry) (json.RawMessage, error) {
	at, err := aws.Time{Time: e.Time}.MarshalJSON()
	if err != nil {
		return nil, err
	}
	attributes, err := attributesOf(e)
	if err != nil {
		return nil, err
	}
	const more = 128 // bytes around the attributes
	b := make([]byte, 0, len(attributes)+more)
	b = append(b, `{"eventTimestamp":`...)
	b = append(b, at...)
	b = append(b, `,"eventType":"`...)
	b = append(b, e.Type...)
	b = append(b, `","eventId":`...)
	b = strconv.AppendInt(b, e.Number, 10)
	b = append(b, `,"`...)
	b = append(b, attributesMember(e.Type)...)
	b = append(b, `":`...)
	b = append(b, attributes.JSON()...)
	return append(b, '}'), nil
}

// attributesMember returns the name of the member with the attributes of an event of a type.
func attributesMember(kind string) string {
	return strings.ToLower(kind[:1]) + kind[1:] + "EventAttributes"
}

// attributesOf returns the attributes of an event: an object.
func attributesOf(e *storage.Entry) (atom.Value, error) {
	if e.Key == "" && e.Details != nil {
		return e.Details, nil
	}
	fields := map[string]json.RawMessage{}
	if e.Details != nil {
		if err := e.Details.Decode(&fields); err != nil {
			return nil, err
		}
	}
	if e.Key != "" {
		fields[e.Key] = e.Body.Data.JSON()
	}
	return atom.Encode(fields)
}
