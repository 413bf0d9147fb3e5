// Package doctor finds problems of a database, and of the processes that serve it. It changes nothing that other
// processes can see.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warning or wrong
	Says  string `json:"says"`
	Do    string `json:"do,omitzero"` // what to do about it
}

// The states of findings.
const (
	OK      = "ok"
	Warning = "warning" // it works, but not as well as it could
	Wrong   = "wrong"
)

// Examine reports all that it finds about the database of a session, and about the processes on it. The error wraps
// an [exit.Error] of [exit.Failure] if something is wrong.
func Examine(ctx context.Context, s *session.Session, report func(*Finding) error) error {
	d := doctor{report: report, limits: s.RunLimits()}
	return d.examine(ctx, s)
}

// A doctor examines a database.
type doctor struct {
	report func(*Finding) error

	limits engine.Limits // limits of runs
	wrong  int
	failed error // error of report
}

// findf reports a finding.
func (d *doctor) findf(check, state, do, format string, args ...any) {
	if state == Wrong {
		d.wrong++
	}
	d.failed = errors.Join(d.failed, d.report(&Finding{
		Check: check, State: state, Says: fmt.Sprintf(format, args...),
		Do: do,
	}))
}

func (d *doctor) examine(ctx context.Context, s *session.Session) error {
	before := time.Now()
	c, err := sqlstore.Examine(ctx, s.DSN)
	after := time.Now()
	if err != nil {
		return exit.DatabaseError(err)
	}
	d.findf("database", OK, "", "%s, %s", c.Schema.Place, c.Engine)
	d.memory(memorybudget.Own(), s.MemoryBudget())
	ready := d.schema(&c)
	d.clock(&c, before, after)
	d.place(&c)
	d.files(&c)
	if c.Server {
		d.hearing(&c)
	}
	if ready {
		d.writing(ctx, s.DSN)
		if err := s.Reading(ctx, func(store *sqlstore.Store) error { return d.work(ctx, store, &c) }); err != nil {
			return err
		}
	}
	if d.failed == nil && d.wrong > 0 {
		return &exit.Error{Status: exit.Failure, Err: fmt.Errorf("%s found to be wrong", view.Count(d.wrong, "thing"))}
	}
	return d.failed
}

// schema reports whether this version can use the tables.
func (d *doctor) schema(c *sqlstore.Checkup) bool {
	found := &c.Schema
	switch {
	case len(found.Pending) == 0:
		d.findf("schema", OK, "", "%d, the newest that this ebb knows", found.Version)
		return true
	case !c.Server && found.Version == 0:
		d.findf("schema", OK, "", "there is no database yet; ebb run or ebb post creates it")
	case !c.Server:
		d.findf("schema", Warning, "run ebb backup first, if an older ebb may have to read it again",
			"%d of %d: ebb migrates it when it opens it, and older versions of ebb cannot open it afterwards", found.Version,
			found.Newest)
	case found.Version == 0:
		d.findf("schema", Wrong, "ebb migrate up", "there are no tables yet")
	default:
		d.findf("schema", Wrong, "ebb migrate up, when no older ebb uses the database",
			"%d of %d: this ebb cannot use this schema", found.Version, found.Newest)
	}
	return false
}

// clockOff is the difference of clocks from which the doctor warns: timers fire too early or too late by this much.
const clockOff = 2 * time.Second

func (d *doctor) clock(c *sqlstore.Checkup, before, after time.Time) {
	const do = "synchronize the clocks (NTP)"
	ahead, behind := before.Sub(c.Time), c.Time.Sub(after)
	// The database read its clock at an unknown moment between before and after.
	known := time.Second + 2*after.Sub(before).Round(time.Second)
	switch {
	case ahead > clockOff:
		d.findf("clock", Warning, do, "this machine's clock is %v ahead of the database's", ahead.Round(known))
	case behind > clockOff:
		d.findf("clock", Warning, do, "this machine's clock is %v behind the database's", behind.Round(known))
	case c.Server:
		d.findf("clock", OK, "", "as the database's")
	}
}

func (d *doctor) place(c *sqlstore.Checkup) {
	switch {
	case c.Server:
	case c.Shared != "":
		d.findf("file system", Wrong, "put it on a disk of this machine, or use a server (--dsn postgres://…)",
			"the file is on a network file system (%s): locks do not reach to other machines there, and the database can be "+
				"damaged", c.Shared)
	default:
		d.findf("file system", OK, "", "not a known network file system")
	}
}

// tryFor bounds the test write.
const tryFor = 5 * time.Second

// writing checks whether the database can be written.
func (d *doctor) writing(ctx context.Context, dsn string) {
	ctx, stop := context.WithTimeout(ctx, tryFor)
	defer stop()
	switch err := sqlstore.TryWrite(ctx, dsn); {
	case err == nil:
		d.findf("writing", OK, "", "a write was committed")
	case errors.Is(err, fs.ErrPermission):
		d.findf("writing", Warning, "run ebb as a user who may write the database",
			"this user may only read the database: %v", err)
	default:
		d.findf("writing", Wrong, "end or continue the named process; if none is named, check the disk and its permissions",
			"%v", err)
	}
}

// files checks which users may use the files of a database.
func (d *doctor) files(c *sqlstore.Checkup) {
	f, file := &c.Files, c.Schema.Place
	const everybody, sticky = 0o002, fs.ModeSticky
	switch {
	case f.Mode == 0 || runtime.GOOS == "windows": // the database does not exist, or modes have no meaning here
	case f.Links > 1:
		d.findf("files", Wrong, "delete the other names, once no process uses the database",
			"the file has %d names: processes that open it by different names do not see each other, and damage it", f.Links)
	case f.Mode&everybody != 0 || f.Folder.Perm()&everybody != 0 && f.Folder&sticky == 0:
		d.findf("files", Wrong, fmt.Sprintf("chmod o-w %s %s", filepath.Dir(file), file),
			"every user of this machine may change or replace the database (mode %04o, folder %04o)", f.Mode, f.Folder.Perm())
	case f.Mode != f.Want:
		d.findf("files", Warning, fmt.Sprintf("chmod %o %s*", f.Want, file),
			"users who may not write the database may read it (mode %04o): its inputs, results and tokens; and by a lock "+
				"they can keep all others from writing", f.Mode)
	default:
		d.findf("files", OK, "", "only users who may write them may read them (mode %04o)", f.Mode)
	}
}

func (d *doctor) hearing(c *sqlstore.Checkup) {
	if c.Deaf == nil {
		d.findf("notifications", OK, "", "they arrive")
		return
	}
	d.findf("notifications", Warning,
		"let ebb connect to the server itself, or to a pool that keeps a connection for each session",
		"they do not arrive (%v): processes poll for work, up to a second late", c.Deaf)
}

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
	}
	status, err := store.Status(ctx)
	if err != nil {
		return exit.DatabaseError(err)
	}
	d.findf("processes", OK, "", "%d use this database now", status.Processes)
	d.counted(status)
	for _, look := range []func(context.Context, storage.Store, time.Time) error{d.past, d.growth, d.deaths, d.waits} {
		if err := look(ctx, store, c.Time); err != nil {
			return exit.DatabaseError(err)
		}
	}
	if err := d.records(ctx, store); err != nil {
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

// past checks whether the clock was set back: then some record has a time in the future.
func (d *doctor) past(ctx context.Context, store storage.Store, _ time.Time) error {
	runs, err := store.Runs(ctx, storage.RunQuery{Limit: 1})
	if err != nil {
		return err
	}
	for i := range runs {
		if ahead := time.Until(runs[i].Updated); ahead > sqlstore.Neglected {
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

// serving returns what to do about work that no process does.
func serving(alive int, needs string) string {
	switch {
	case alive == 0:
		return "serve the database: ebb serve"
	case needs != "":
		return "serve it with a process that offers " + needs + " (ebb serve --offer)"
	default:
		return "serve it with a process that knows their flows or has more slots"
	}
}

// waiting reports what is due and not done, and what an operator must decide, as the metrics count it.
func (d *doctor) waiting(ctx context.Context, store *sqlstore.Store, st *sqlstore.Status) error {
	alive := st.Processes
	if st.Undriven.Count == 0 {
		d.findf("runs", OK, "", "no run waits for a process to drive it")
	} else {
		run, err := store.Run(ctx, st.Undriven.ID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // else it was pruned meanwhile
			return err
		}
		fix := serving(alive, pairs(needsOf(run.Labels)))
		if err == nil && run.Definition == "" {
			fix = fmt.Sprintf("start the Go program that has the flow %s; ebb serve cannot drive it", run.Flow)
		}
		d.findf("runs", Warning, fix,
			"%s wait for a process to drive them, %s of flow %s for the longest: since %s",
			enough(st.Undriven.Count), st.Undriven.ID, st.Undriven.Flow, st.Undriven.Since.Format(time.RFC3339))
	}
	if st.NeedPerson.Count > 0 {
		d.findf("need a person", Warning, "ebb why says what to decide about each",
			"%s: their undo failed, or they were set aside, such as %s of flow %s",
			runCount(st.NeedPerson.Count), st.NeedPerson.ID, st.NeedPerson.Flow)
	}
	if st.Unclaimed.Count == 0 {
		d.findf("jobs", OK, "", "no job waits for a process to claim it")
	} else {
		job, err := store.Job(ctx, st.Unclaimed.ID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		d.findf("jobs", Warning, serving(alive, pairs(job.Labels)),
			"%s wait for a process to claim them, %s of flow %s is the next: since %s",
			enough(st.Unclaimed.Count), st.Unclaimed.ID, st.Unclaimed.Flow, st.Unclaimed.Since.Format(time.RFC3339))
	}
	if st.ParkedJobs.Count > 0 {
		d.findf("parked jobs", Warning,
			"ebb jobs tells why; decide with ebb jobs release or cancel, or by commands to their runs",
			"%s wait for an operator to decide, such as %s", enough(st.ParkedJobs.Count), st.ParkedJobs.ID)
	}
	if st.Parked.Count > 0 {
		d.findf("parked messages", Warning, "ebb why "+st.Parked.ID+" shows the error; ebb retry --messages sends them again",
			"%s to other systems failed too often, such as of run %s", enough(st.Parked.Count), st.Parked.ID)
	}
	if st.Late.Count > 0 {
		d.findf("schedules", Warning, serving(alive, ""), "%s is late: it should have ticked at %s",
			st.Late.ID, st.Late.Since.Format(time.RFC3339))
	}
	d.limited(st)
	return nil
}

// limited reports the limits that are used up while runs wait.
func (d *doctor) limited(st *sqlstore.Status) {
	for i := range st.Limits {
		l := &st.Limits[i]
		if l.Used >= l.Runs && st.Limited.Count > 0 {
			d.findf("limit", OK, "", "%s: %d now; %s under a limit wait, %s for the longest", l.String(), l.Used,
				runCount(st.Limited.Count), st.Limited.ID)
		}
	}
}

// counted reports how many runs there are.
func (d *doctor) counted(st *sqlstore.Status) {
	d.findf("stored runs", OK, "", "%s", view.Counts(st))
}

// needsOf returns what the labels of a run say that it needs.
func needsOf(labels map[string]string) map[string]string {
	needs := map[string]string{}
	for k, v := range labels {
		if need, is := strings.CutPrefix(k, storage.NeedLabel); is {
			needs[need] = v
		}
	}
	return needs
}

// runCount returns "1 run" or "2 runs".
func runCount(n int) string {
	if n == 1 {
		return "1 run"
	}
	return enough(n) + " runs"
}

// pairs formats labels as on the command line.
func pairs(labels map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, k+"="+labels[k])
	}
	return strings.Join(all, ", ")
}
