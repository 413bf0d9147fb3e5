package runfilter

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A Cursor is a place in a list of runs. The zero Cursor is the beginning.
type Cursor struct {
	order  storage.RunOrder
	micros int64 // time of the last run
	number int64 // its number
	set    bool
}

var orderMarks = map[storage.RunOrder]string{storage.ByCreated: "c", storage.ByEnded: "e"}

// String returns the cursor as text; "" for the zero Cursor.
func (c Cursor) String() string {
	if !c.set {
		return ""
	}
	return fmt.Sprintf("%s%d.%d", orderMarks[c.order], c.micros, c.number)
}

// ParseCursor reads a cursor. A text that no cursor has written is read as the zero Cursor, because it may come from
// anyone.
func ParseCursor(text string) Cursor {
	for order, mark := range orderMarks {
		rest, found := strings.CutPrefix(text, mark)
		at, number, dot := strings.Cut(rest, ".")
		if !found || !dot {
			continue
		}
		micros, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return Cursor{}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return Cursor{}
		}
		return Cursor{order, micros, n, true}
	}
	return Cursor{}
}

// Place returns the run after which a query continues. A cursor of a list in another order begins anew.
func (c Cursor) Place(q *storage.RunQuery) *storage.Run {
	if !c.set || c.order != q.Order {
		return nil
	}
	run := &storage.Run{Number: c.number}
	if at := time.UnixMicro(c.micros).UTC(); c.order == storage.ByEnded {
		run.Ended = at
	} else {
		run.Created = at
	}
	return run
}

// CursorAt returns the place of a run in the list of a query.
func CursorAt(q *storage.RunQuery, run *storage.Run) Cursor {
	return Cursor{q.Order, placeOf(q, run).UnixMicro(), run.Number, true}
}

// placeOf returns the time by which a query orders a run.
func placeOf(q *storage.RunQuery, run *storage.Run) time.Time {
	if q.Order == storage.ByEnded {
		return run.Ended
	}
	return run.Created
}
