package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/gauge"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// work checks the runs and jobs that are due, and which processes serve the database.
func (d *doctor) work(ctx context.Context, store *sqlstore.Store, c *sqlstore.Checkup) error {
	owners, err := store.Owners(ctx)
	if err != nil {
		return exit.DatabaseError(err)
	}
	for i := range owners {
		if ahead := owners[i].Seen.Sub(c.Time); c.Server && ahead > clockOff {
			d.findf("clock set back", Warning,
				"find out why the clock was set back; a process that has died is noticed a lease later than otherwise",
				"process %d on %s was last seen at %s, which has not come yet by the database's clock: it is %v behind what it was",
				owners[i].PID, owners[i].Host, owners[i].Seen.UTC().Format(time.RFC3339), ahead.Round(time.Second))
		}
		if pid := owners[i].PID; owners[i].Stopped {
			do := fmt.Sprintf("kill -CONT %d lets it continue; after kill -9 %d, others take its runs over", pid, pid)
			d.findf("process", Warning, do, "%d on %s was stopped: its runs stand still", pid, owners[i].Host)
		}
	}
	status, err := store.Status(ctx)
	if err != nil {
		return exit.DatabaseError(err)
	}
	d.measure(status)
	d.findf("processes", OK, "", "%d use this database now", status.Processes)
	if err := d.served(ctx, store); err != nil {
		return exit.DatabaseError(err)
	}
	d.counted(status)
	for _, look := range []func(context.Context, backend.Store, time.Time) error{
		d.past, d.growth, d.setAside, d.refused, d.queues,
	} {
		if err := look(ctx, store, c.Time); err != nil {
			return exit.DatabaseError(err)
		}
	}
	if err := d.crashLoops(ctx, store, status); err != nil {
		return exit.DatabaseError(err)
	}
	if err := d.records(ctx, store); err != nil {
		return exit.DatabaseError(err)
	}
	if err := d.rows(ctx, store); err != nil {
		return exit.DatabaseError(err)
	}
	if err := d.keys(ctx, store); err != nil {
		return exit.DatabaseError(err)
	}
	if err := d.executions(ctx, store); err != nil {
		return exit.DatabaseError(err)
	}
	return exit.DatabaseError(d.waiting(ctx, store, status))
}

// refused finds runs that processes refuse while no other drives them.
func (d *doctor) refused(ctx context.Context, store backend.Store, _ time.Time) error {
	now := store.Now()
	runs, err := inspect.RefusedRuns(ctx, store, now, lookAt)
	if err != nil || len(runs) == 0 {
		return err
	}
	why, err := ReasonOfRun(ctx, store, runs[0].ID, now)
	d.findf("refused", Warning, "mend that, and the process tries again within a minute; or end them: ebb cancel",
		"no process drives %s that one has refused, such as %s of flow %s. %s", runCount(len(runs)), runs[0].ID, runs[0].Flow,
		why.Says)
	return err
}

// past checks whether the clock was set back: then some record has a time in the future.
func (d *doctor) past(ctx context.Context, store backend.Store, _ time.Time) error {
	runs, err := store.Runs(ctx, storage.RunQuery{Limit: 1})
	if err != nil {
		return err
	}
	for i := range runs {
		if ahead := runs[i].Updated.Sub(store.Now()); ahead > sqlstore.Neglected {
			d.findf("past", Wrong, "find out why the clock was put back; timers wait until their time comes again",
				"run %s has changed at %s, which has not come yet", runs[i].ID, runs[i].Updated.UTC().Format(time.RFC3339))
			return nil
		}
	}
	return nil
}

// lookAt is how many runs and jobs are looked at.
const lookAt = 1000

// enough returns the number of records found, as text.
func enough(n int) string {
	if n == lookAt || n == sqlstore.MaxFound {
		return fmt.Sprintf("%d or more", n)
	}
	return strconv.Itoa(n)
}

// waiting reports what is due and not done, and what an operator must decide, as the metrics count it.
func (d *doctor) waiting(ctx context.Context, store *sqlstore.Store, st *sqlstore.Status) error {
	if st.Undriven.Count == 0 {
		d.findf("runs", OK, "", "no run waits for a process to drive it")
	} else {
		why, err := ReasonOfRun(ctx, store, st.Undriven.ID, store.Now())
		if err != nil {
			return err
		}
		d.findf("runs", Warning, cmp.Or(why.Do, "ebb why "+visible.Word(st.Undriven.ID)+" says more"),
			"%s for a process: %s of flow %s for the longest, since %s. %s", waiting(st.Undriven.Count, "run"),
			st.Undriven.ID, st.Undriven.Flow, st.Undriven.Since.Format(time.RFC3339), why.Says)
	}
	if st.NeedPerson.Count == 0 {
		d.findf("need a person", OK, "", "no run")
	} else {
		d.findf("need a person", Warning, "ebb why says what to decide about each",
			"%s: their undo failed, or they were set aside, such as %s of flow %s",
			runCount(st.NeedPerson.Count), st.NeedPerson.ID, st.NeedPerson.Flow)
	}
	d.board(st)
	if st.Unclaimed.Count == 0 {
		d.findf("jobs", OK, "", "no job waits for a process to claim it")
	} else {
		why, err := ReasonOfJob(ctx, store, st.Unclaimed.ID, store.Now())
		if err != nil {
			return err
		}
		d.findf("jobs", Warning, cmp.Or(why.Do, "ebb why "+visible.Word(st.Unclaimed.ID)+" says more"),
			"%s to be claimed: %s of flow %s is the next, since %s. %s", waiting(st.Unclaimed.Count, "job"),
			st.Unclaimed.ID, st.Unclaimed.Flow, st.Unclaimed.Since.Format(time.RFC3339), why.Says)
	}
	if st.ParkedJobs.Count > 0 {
		d.findf("parked jobs", Warning,
			"ebb jobs tells why; decide with ebb jobs release or cancel, or by commands to their runs",
			"%s for an operator to decide, such as %s", waiting(st.ParkedJobs.Count, "job"), st.ParkedJobs.ID)
	}
	if st.Parked.Count == 0 {
		d.findf("parked messages", OK, "", "no message to another system failed too often")
	} else {
		d.findf("parked messages", Warning, "ebb why "+st.Parked.ID+" shows the error; ebb retry --messages sends them again",
			"%s to other systems failed too often, such as of run %s", found(st.Parked.Count, "message"), st.Parked.ID)
	}
	if st.Late.Count == 0 {
		d.findf("schedules", OK, "", "no schedule is late")
	} else {
		d.findf("schedules", Warning, "ebb serve ticks schedules", "%s late, such as %s: it should have ticked at %s",
			found(st.Late.Count, "schedule"), st.Late.ID, st.Late.Since.Format(time.RFC3339))
	}
	d.limited(st)
	return nil
}

// mostLimits is how many limits the doctor names.
const mostLimits = 8

// limited reports the limits on driven runs, how much of each is in use, the most used first, and how many runs wait.
func (d *doctor) limited(st *sqlstore.Status) {
	limits := slices.Clone(st.Limits)
	slices.SortStableFunc(limits, func(a, b sqlstore.LimitUse) int { return cmp.Compare(b.Used, a.Used) })
	var says []string
	for i := range limits[:min(mostLimits, len(limits))] {
		says = append(says, fmt.Sprintf("%s: %d now", limits[i].String(), limits[i].Used))
	}
	if len(says) == 0 {
		says = []string{"none on driven runs"}
	}
	if more := len(limits) - mostLimits; more > 0 {
		says = append(says, fmt.Sprintf("%d more in ebb limit", more))
	}
	if st.Limited.Count > 0 {
		says = append(says, fmt.Sprintf("%s under a limit for a minute or longer, %s for the longest",
			waiting(st.Limited.Count, "run"), st.Limited.ID))
	}
	d.findf("limits", OK, "", "%s", strings.Join(says, "; "))
}

// waiting returns "1 run waits" or "2 runs wait".
func waiting(n int, what string) string {
	if n == 1 {
		return found(n, what) + " waits"
	}
	return found(n, what) + " wait"
}

// found returns "1 run", "2 runs" or, if not all were counted, "1000 or more runs".
func found(n int, what string) string {
	if text := enough(n); n != 1 {
		return text + " " + what + "s"
	}
	return "1 " + what
}

// board reports how many jobs that have not ended there are, by state.
func (d *doctor) board(st *sqlstore.Status) {
	d.findf("board", OK, "", "%s", cmp.Or(inspect.JobTotals(st.Jobs, st.At), "no jobs"))
}

// measure remembers the metrics, which the findings of their checks show.
func (d *doctor) measure(st *sqlstore.Status) {
	d.metrics = map[string]map[string]float64{}
	for _, g := range gauge.All() {
		of := d.metrics[g.Check]
		if of == nil {
			of = map[string]float64{}
			d.metrics[g.Check] = of
		}
		for _, v := range g.Values(st) {
			of[g.Series(v)] = v.Number
		}
	}
}

// counted reports how many runs there are.
func (d *doctor) counted(st *sqlstore.Status) {
	d.findf("stored runs", OK, "", "%s", view.Counts(st))
}

// runCount returns "1 run" or "2 runs".
func runCount(n int) string {
	if n == 1 {
		return "1 run"
	}
	return enough(n) + " runs"
}
