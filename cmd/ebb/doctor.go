package main

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

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A finding is what the doctor says of one thing.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warning or wrong
	Says  string `json:"says"`
	Do    string `json:"do,omitzero"` // what helps
}

// The states of findings.
const (
	isOK      = "ok"
	isWarning = "warning" // it works, and not as well as it could
	isWrong   = "wrong"
)

// A doctor looks at a database.
type doctor struct {
	dsn  string
	tell func(*finding) error

	limits engine.Limits // of runs
	wrong  int
	told   error
}

func (s *session) doctorCommand() *cobra.Command {
	var restored bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with the database, and with who serves it",
		Long: `Say what is wrong with the database, and with who serves it: its tables, clocks, the
file system, the memory of a process, whether it can be written and by whom, whether processes hear of each other,
and what nobody drives. Nothing that others can see is changed. The exit status is 1 when something is wrong, 0 when there are but warnings.

--after-restore makes a database that was restored from a copy safe to work on: who
claimed something of it after the copy was made can write nothing any more, and what
the copy says to be owned is free. Stop all processes that work on it first.`,
		Example: `  ebb doctor --dsn postgres://db.example.org/ebb
  ebb doctor --after-restore`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if restored {
				return s.afterRestore(cmd.Context())
			}
			d := &doctor{dsn: s.dsn, tell: s.tellFinding}
			return d.look(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&restored, "after-restore", false, "make a database that was restored from a copy safe to work on")
	return cmd
}

// tellFinding prints a finding.
func (s *session) tellFinding(f *finding) error {
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(f)
	}
	text := fmt.Sprintf("%-7s  %s: %s", f.State, f.Check, visible.Line(f.Says))
	if f.Do != "" {
		text += "\n         → " + visible.Line(f.Do)
	}
	_, err := fmt.Fprintln(s.out, text)
	return err
}

// findf tells of a finding.
func (d *doctor) findf(check, state, do, format string, args ...any) {
	if state == isWrong {
		d.wrong++
	}
	d.told = errors.Join(d.told, d.tell(&finding{Check: check, State: state, Says: fmt.Sprintf(format, args...), Do: do}))
}

// look looks at all there is.
func (d *doctor) look(ctx context.Context, s *session) error {
	d.limits = s.bounded()
	before := time.Now()
	c, err := sqlstore.Examine(ctx, d.dsn)
	after := time.Now()
	if err != nil {
		return unreachable(err)
	}
	d.findf("database", isOK, "", "%s, %s", c.Schema.Place, c.Engine)
	d.memory(memorybudget.Own(), s.effectiveBudget())
	ready := d.schema(&c)
	d.clock(&c, before, after)
	d.place(&c)
	d.files(&c)
	if c.Server {
		d.hearing(&c)
	}
	if ready {
		d.writing(ctx)
		if err := s.reading(ctx, func(store storage.Store) error { return d.work(ctx, store, &c) }); err != nil {
			return err
		}
	}
	if d.told == nil && d.wrong > 0 {
		return &statusError{status: exitFailure, err: fmt.Errorf("%s found to be wrong", count(d.wrong, "thing"))}
	}
	return d.told
}

// schema reports whether the tables can be worked with.
func (d *doctor) schema(c *sqlstore.Checkup) bool {
	found := &c.Schema
	switch {
	case len(found.Pending) == 0:
		d.findf("schema", isOK, "", "%d, the newest that this ebb knows", found.Version)
		return true
	case !c.Server && found.Version == 0:
		d.findf("schema", isOK, "", "there is no database yet; it is made when something is run or posted")
	case !c.Server:
		d.findf("schema", isWarning, "run ebb backup first, if an older ebb may have to read it again",
			"%d of %d: it is brought there when it is opened, and older versions of ebb cannot open it then", found.Version, found.Newest)
	case found.Version == 0:
		d.findf("schema", isWrong, "ebb migrate up", "there are no tables yet")
	default:
		d.findf("schema", isWrong, "ebb migrate up, once no older ebb works on it",
			"%d of %d: this ebb does not work on it as it is", found.Version, found.Newest)
	}
	return false
}

// clockOff is how far clocks may differ before it is worth a word: what waits for a
// time begins so much too early or too late.
const clockOff = 2 * time.Second

func (d *doctor) clock(c *sqlstore.Checkup, before, after time.Time) {
	const do = "synchronise the clocks (NTP)"
	ahead, behind := before.Sub(c.Time), c.Time.Sub(after)
	switch {
	case ahead > clockOff:
		d.findf("clock", isWarning, do, "this machine's clock is %v ahead of the database's", ahead.Round(time.Second))
	case behind > clockOff:
		d.findf("clock", isWarning, do, "this machine's clock is %v behind the database's", behind.Round(time.Second))
	case c.Server:
		d.findf("clock", isOK, "", "as the database's")
	}
}

func (d *doctor) place(c *sqlstore.Checkup) {
	switch {
	case c.Server:
	case c.Shared != "":
		d.findf("file system", isWrong, "put it on a disk of this machine, or use a server (--dsn postgres://…)",
			"the file is on a network file system (%s): locks do not reach to other machines there, and the database can be damaged", c.Shared)
	default:
		d.findf("file system", isOK, "", "it is none of those over a network that are known")
	}
}

// tryFor is how long a write may take.
const tryFor = 5 * time.Second

// writing looks whether the database can be written.
func (d *doctor) writing(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, tryFor)
	defer stop()
	switch err := sqlstore.TryWrite(ctx, d.dsn); {
	case err == nil:
		d.findf("writing", isOK, "", "a write was committed")
	case errors.Is(err, fs.ErrPermission):
		d.findf("writing", isWarning, "call ebb as a user who may write it", "this user may only read the database: %v", err)
	default:
		d.findf("writing", isWrong, "end or continue what is in the way; if nothing is named, look at the disk and its rights", "%v", err)
	}
}

// files checks which users may use the files of a database.
func (d *doctor) files(c *sqlstore.Checkup) {
	f, file := &c.Files, c.Schema.Place
	const everybody, sticky = 0o002, fs.ModeSticky
	switch {
	case f.Mode == 0 || runtime.GOOS == "windows": // there is none yet, or modes say nothing
	case f.Links > 1:
		d.findf("files", isWrong, "delete the other names, once no process uses the database",
			"the file has %d names: processes that open it by different names do not see each other, and damage it", f.Links)
	case f.Mode&everybody != 0 || f.Folder.Perm()&everybody != 0 && f.Folder&sticky == 0:
		d.findf("files", isWrong, fmt.Sprintf("chmod o-w %s %s", filepath.Dir(file), file),
			"every user of this machine may change or replace the database (mode %04o, folder %04o)", f.Mode, f.Folder.Perm())
	case f.Mode != f.Want:
		d.findf("files", isWarning, fmt.Sprintf("chmod %o %s*", f.Want, file),
			"users who may not write the database may read it (mode %04o): its inputs, results and tokens; and by a lock they can keep all others from writing", f.Mode)
	default:
		d.findf("files", isOK, "", "only users who may write them may read them (mode %04o)", f.Mode)
	}
}

func (d *doctor) hearing(c *sqlstore.Checkup) {
	if c.Deaf == nil {
		d.findf("notifications", isOK, "", "they arrive")
		return
	}
	d.findf("notifications", isWarning, "let ebb connect to the server itself, or to a pool that keeps a connection for each session",
		"they do not arrive (%v): work is found by looking for it, up to a second late", c.Deaf)
}

// neglected is how long work may wait before doctor reports it.
const neglected = time.Minute

// work checks the runs and jobs that are due, and which processes serve the database.
func (d *doctor) work(ctx context.Context, store storage.Store, c *sqlstore.Checkup) error {
	owners, err := store.Owners(ctx)
	if err != nil {
		return unreachable(err)
	}
	alive := 0
	for i := range owners {
		if owners[i].Alive {
			alive++
		}
		if ahead := owners[i].Seen.Sub(c.Time); c.Server && ahead > clockOff {
			d.findf("clock set back", isWarning, "find out why the clock was set back; a process that has died is noticed a lease later than otherwise",
				"process %d on %s was last seen at %s, which has not come yet by the database's clock: it is %v behind what it was",
				owners[i].PID, owners[i].Host, owners[i].Seen.UTC().Format(time.RFC3339), ahead.Round(time.Second))
		}
	}
	d.findf("processes", isOK, "", "%d on this database now", alive)
	for _, look := range []func(context.Context, storage.Store, time.Time, int) error{d.past, d.runs, d.growth, d.deaths, d.jobs, d.schedules} {
		if err := look(ctx, store, c.Time, alive); err != nil {
			return unreachable(err)
		}
	}
	return nil
}

// past finds out whether the clock was put back: then there is something that has
// not happened yet.
func (d *doctor) past(ctx context.Context, store storage.Store, _ time.Time, _ int) error {
	runs, err := store.Runs(ctx, storage.RunQuery{Limit: 1})
	if err != nil {
		return err
	}
	for i := range runs {
		if ahead := time.Until(runs[i].Updated); ahead > neglected {
			d.findf("past", isWrong, "find out why the clock was put back; what waits for a time waits until it has come again",
				"run %s has changed at %s, which has not come yet", runs[i].ID, runs[i].Updated.UTC().Format(time.RFC3339))
			return nil
		}
	}
	return nil
}

// lookAt is how many runs and jobs are looked at.
const lookAt = 1000

// enough says how many there are of what was looked at.
func enough(n int) string {
	if n == lookAt {
		return fmt.Sprintf("%d or more", n)
	}
	return strconv.Itoa(n)
}

// serving says what to do about work that no process does.
func serving(alive int, needs string) string {
	switch {
	case alive == 0:
		return "let somebody serve the database: ebb serve"
	case needs != "":
		return "let somebody serve it that offers " + needs + " (ebb serve --offer)"
	default:
		return "let somebody serve it that knows their flows, or has more slots"
	}
}

func (d *doctor) runs(ctx context.Context, store storage.Store, now time.Time, alive int) error {
	runs, err := store.Runs(ctx, storage.RunQuery{Due: now.Add(-neglected), Limit: lookAt})
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r storage.Run) bool { return r.Hold })
	if len(runs) == 0 {
		d.findf("runs", isOK, "", "none waits for somebody to drive it")
		return nil
	}
	oldest := &runs[0]
	needs := map[string]string{}
	for k, v := range oldest.Labels {
		if need, is := strings.CutPrefix(k, storage.NeedLabel); is {
			needs[need] = v
		}
	}
	d.findf("runs", isWarning, serving(alive, pairs(needs)), "%s wait for somebody to drive them, %s of flow %s for the longest: since %s",
		enough(len(runs)), oldest.ID, oldest.Flow, oldest.Due.UTC().Format(time.RFC3339))
	return nil
}

func (d *doctor) jobs(ctx context.Context, store storage.Store, now time.Time, alive int) error {
	waiting, err := store.JobList(ctx, storage.JobQuery{States: []states.Job{states.JobUnclaimed}, Limit: lookAt})
	if err != nil {
		return err
	}
	waiting = slices.DeleteFunc(waiting, func(j storage.Job) bool { return now.Sub(j.Created) < neglected || now.Sub(j.NotUntil) < neglected })
	if len(waiting) == 0 {
		d.findf("jobs", isOK, "", "none waits for somebody to claim it")
	} else {
		oldest := slices.MinFunc(waiting, func(a, b storage.Job) int { return a.Created.Compare(b.Created) })
		d.findf("jobs", isWarning, serving(alive, pairs(oldest.Labels)), "%s wait for somebody to claim them, %s of flow %s for the longest: since %s",
			enough(len(waiting)), oldest.ID, oldest.Flow, oldest.Created.UTC().Format(time.RFC3339))
	}
	parked, err := store.JobList(ctx, storage.JobQuery{States: []states.Job{states.JobParked}, Limit: lookAt})
	if err == nil && len(parked) > 0 {
		d.findf("parked jobs", isWarning, "ebb jobs tells why; decide with ebb jobs release or cancel, or by commands to their runs",
			"%s wait for somebody to decide, such as %s", enough(len(parked)), parked[0].ID)
	}
	return err
}

func (d *doctor) schedules(ctx context.Context, store storage.Store, _ time.Time, alive int) error {
	due, now, _, err := store.DueSchedules(ctx, lookAt)
	if err == nil && len(due) > 0 && now.Sub(due[0].Next) > neglected {
		d.findf("schedules", isWarning, serving(alive, ""), "%s is late: it should have ticked at %s", due[0].ID, due[0].Next.UTC().Format(time.RFC3339))
	}
	return err
}

// pairs returns labels as they are given on the command line.
func pairs(labels map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, k+"="+labels[k])
	}
	return strings.Join(all, ", ")
}

// afterRestore makes a restored database safe.
func (s *session) afterRestore(ctx context.Context) error {
	var alive []string
	err := s.reading(ctx, func(store storage.Store) error { // and one that is not there is not made
		owners, err := store.Owners(ctx)
		for _, o := range owners {
			if o.Alive {
				alive = append(alive, fmt.Sprintf("%d on %s", o.PID, o.Host))
			}
		}
		return unreachable(err)
	})
	if err != nil {
		return err
	}
	if len(alive) > 0 {
		return usagef("processes work on the database: stop them first (%s)", strings.Join(alive, ", "))
	}
	return s.withFile(ctx, func(store *sqlstore.Store) error {
		runs, jobs, err := store.AfterRestore(ctx)
		if err != nil {
			return unreachable(err)
		}
		if s.output == asJSON {
			return view.NewJSON(s.out).Encode(map[string]int64{"runs": runs, "jobs": jobs})
		}
		_, err = fmt.Fprintf(s.out, "%s and %s go on as the copy has them; what was claimed since can write nothing\n",
			count(int(runs), "run"), count(int(jobs), "job"))
		return err
	})
}
