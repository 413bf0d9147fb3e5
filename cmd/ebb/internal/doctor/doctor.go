// Package doctor finds problems of a database, and of the processes that serve it. It changes nothing that other
// processes can see.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/buildinfo"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warning or wrong
	Says  string `json:"says"`
	Do    string `json:"do,omitzero"` // what to do about it

	Metrics map[string]float64 `json:"metrics,omitzero"` // the same facts, by the names of the metrics
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

	limits  engine.Limits                 // limits of runs
	metrics map[string]map[string]float64 // metrics by check
	wrong   int
	failed  error // error of report
}

// findf reports a finding.
func (d *doctor) findf(check, state, do, format string, args ...any) {
	if state == Wrong {
		d.wrong++
	}
	d.failed = errors.Join(d.failed, d.report(&Finding{
		Check: check, State: state, Says: fmt.Sprintf(format, args...), Do: do, Metrics: d.metrics[check],
	}))
}

func (d *doctor) examine(ctx context.Context, s *session.Session) error {
	before := time.Now()
	c, err := sqlstore.Examine(ctx, s.DSN)
	after := time.Now()
	if err != nil {
		return exit.DatabaseError(err)
	}
	d.program()
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

// program reports which ebb this is.
func (d *doctor) program() {
	version, revision, _ := buildinfo.Read()
	d.findf("program", OK, "", "ebb %s %s, %s", version, cmp.Or(revision, "without revision"), runtime.Version())
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
//
//limit:storage trial write of `ebb doctor` | {} | reported
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
