package inspect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
)

// A ScheduleWait is why a schedule posts no job now.
type ScheduleWait struct {
	Says string // a sentence; times are in the time zone of now
	Way  string // the command that lets the schedule post jobs; "" if there is none to name
}

// WhySchedule returns why a schedule posts no job now. Ages are counted from now. Errors are the store's.
func WhySchedule(
	ctx context.Context, store backend.Store, is *backend.Schedule, now time.Time,
) (w ScheduleWait, err error) {
	f, err := readFacts(ctx, store)
	posts := slices.ContainsFunc(f.present, func(p engine.Presence) bool { return p.Claims })
	switch {
	case err != nil:
	case f.barred != "":
		w.Says = (&Wait{Kind: WaitsForDatabase, Reason: f.barred}).hinders(now)
	case is.Err != nil:
		w.Says = fmt.Sprintf("Its record cannot be read: %s.", visible.Line(is.Err.Error()))
	case is.Paused:
		w = ScheduleWait{"It is paused: its ticks post no jobs.", "ebb schedule resume " + visible.Word(is.ID)}
	case is.Next.IsZero():
		w.Says = "It never ticks again."
	case is.Next.After(now) && !posts:
		w = ScheduleWait{fmt.Sprintf("It ticks next%s, but no process posts its jobs now.", at(is.Next, now)), "ebb serve"}
	case now.Sub(is.Next) < patience:
		w.Says = fmt.Sprintf("It ticks next%s.", at(is.Next, now))
	case !posts:
		w = ScheduleWait{fmt.Sprintf("It is due%s, and no process posts its jobs.", since(is.Next, now)), "ebb serve"}
	default:
		w.Says = fmt.Sprintf("It is due%s, and the process that posts its jobs has not done so yet: look into its log.",
			since(is.Next, now))
	}
	return w, err
}
