package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

var (
	// ErrNotFound is returned when there is no such run, job, token or definition.
	ErrNotFound = errors.New("storage: not found")
	// ErrExists is returned by Create and Post when the id is taken.
	ErrExists = errors.New("storage: already exists")
	// ErrFenced is returned when the claim is no longer the run's: another
	// owner has taken the run over. Nothing was written. The former owner stops, writes nothing
	// more, and reverts nothing.
	ErrFenced = errors.New("storage: another owner has taken over")
	// ErrUnsure is returned by Commit when the store cannot tell whether it was
	// done. Commit the same checkpoint again: the guard tells.
	ErrUnsure = errors.New("storage: it is not known whether the commit was done")
	// ErrNewMessages is returned by Release when messages came since the caller read the
	// wakeup counter.
	ErrNewMessages = errors.New("storage: new messages have arrived")
	// ErrGone is returned when the token to end was ended before, has expired, or its
	// atom was started anew.
	ErrGone = errors.New("storage: the token is no longer open")
	// ErrTaken is returned to a worker whose lease ran out, when another one was
	// given the work meanwhile.
	ErrTaken = errors.New("storage: another worker has taken the work")
	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("storage: the store is closed")
	// ErrBroken is returned by methods that write when the store writes nothing
	// more: it does not know what is on the disk. What was acknowledged is safe;
	// a process that reopens the store can continue.
	ErrBroken = errors.New("storage: closed for writing")
	// ErrCorrupt is returned when a record cannot be read back.
	ErrCorrupt = errors.New("storage: the record is damaged")
	// ErrInvalid is returned when what is to be written contradicts what is there
	// or itself: a gap in the history, a reference to no payload. It is a mistake
	// of the caller's code; nothing was written.
	ErrInvalid = errors.New("storage: not writable")
)

// An OwnedError is returned by Begin when a live owner has the run.
type OwnedError struct {
	Run   string
	Owner Owner
}

// Error names the owner.
func (e *OwnedError) Error() string {
	return fmt.Sprintf("storage: run %q is owned by process %d on %s, which is alive", e.Run, e.Owner.PID, e.Owner.Host)
}

// A Due run wants to be driven.
type Due struct {
	Run      string // its id
	Claim    Claim
	Snapshot *Snapshot
	Err      error // not nil when this run cannot be loaded: there is no more than its id
}

// A DueQuery selects runs that are due, those first that have been for longest.
type DueQuery struct {
	By     time.Time
	Flow   string            // "" is every flow
	Except []string          // runs to leave out, such as those that are being driven
	Offers map[string]string // what there is of that which runs need, see [NeedLabel]; those that need more are left out
	Limit  int               // 0 is all
	// Suspects selects the runs whose Lost is at least SuspectLost, those first about which
	// most is proved, whatever limits say; without it these are left out.
	Suspects bool
	// RunsOnly leaves out all of the snapshots but the Run, and the claims: Begin or Try loads
	// the rest. So what is found takes little memory, however large the runs are.
	RunsOnly bool
}

// A Snapshot is all that is needed to go on with a run.
type Snapshot struct {
	Run      Run
	Atoms    []Atom // the live ones, ordered by path
	Messages []Message
	Tokens   []Token    // the open ones
	Timers   []TimerRow // nearest first
}

// A Checkpoint is what one step changes. It becomes durable as a whole.
type Checkpoint struct {
	Head Head
	// Input replaces the run's; nil leaves it. Like other values it refers to a
	// payload when it is large.
	Input *Held
	// Structure replaces the run's; "" leaves it.
	Structure string
	Labels    map[string]string // to set; one whose value is "" is taken away
	Atoms     []Atom            // replace those of the same path
	Forget    []string          // paths of atoms to delete
	Payloads  []Payload
	History   []Entry    // continue the run's numbers without a gap
	Untold    int64      // how many of the language's events have numbers and are not kept; then History has none
	Push      []Undo     // onto the undo stack; continue its numbers
	Pop       int        // so many from the undo stack, before Push
	Timers    []TimerRow // replace those of the same path and kind; a zero Due deletes
	Tokens    []Token    // new ones, and ends of open ones; one that ended before stays as it is
	Taken     []int64    // messages that were acted on, to delete
	Outbox    []Outgoing
	Children  []Run     // runs to create, unowned and due at once; ErrExists when an id is taken
	Messages  []Message // to other runs; those to runs that are not there are dropped
	Job       *JobEnd   // the job that asked for this run, ended in the same commit
}

// Head is the part of the run's row that owner writes change. Each field
// replaces what is there, except that a nil Memory leaves it.
type Head struct {
	Seq     int64 // of the commit before this one; the guard
	State   states.Flow
	Outcome Outcome // may be set before the state is an end
	Undo    Undone
	Hold    bool
	Output  Held
	Failure *atom.Failure
	Memory  atom.Value // nil leaves it
	Absolve bool       // Lost and Suspicion of the run are forgotten
	Started time.Time
	Ended   time.Time
	Entries int64     // after this commit
	Events  int64     // after this commit
	Refs    int64     // after this commit
	Growth            // after this commit
	Release bool      // release the run in this commit
	Due     time.Time // with Release, and in a Step: when it wants to be taken up
	Wakeups int64     // with Release: the wakeup counter as last read; if it has risen since, the run is due at once
	Time    time.Time // of this commit
}

// A Payload is a value too large to be copied. Payloads are never changed.
type Payload struct {
	Ref  int64 // within the run, from 1
	Data atom.Value
}

// JobEnd ends the claim of a job, or changes the state of an unclaimed job. ErrFenced is returned when the claim is no longer the job's, and within
// a checkpoint fails all of it.
//
// Without a claim, a job can be changed that is not claimed, and its attempts are
// counted anew; within a checkpoint, only the one that is its run's: the run's fence is what guards it, and a job that
// has ended already stays as it is.
type JobEnd struct {
	Job      string
	Epoch    int64
	ClaimID  string     // "" is no claim
	State    states.Job // JobComplete, JobUnclaimed, JobScheduled or JobParked
	NotUntil time.Time
	Failure  *atom.Failure
}

// Store keeps runs. Its methods may be called by any number of goroutines.
// Errors that are none of this package's are the database's own: they say
// nothing about the run, and nothing was written unless they wrap ErrUnsure.
type Store interface {
	// Create makes a run without an owner. The store sets counters, fence
	// and wakeup counter itself, and ignores those of run. An input above InlineLimit
	// becomes the run's payload 1. It returns ErrExists when there is one of
	// that id.
	//
	// With Run.Job the run is what that job wants: the job is the run's from this
	// commit on, under no claim that could run out. It returns ErrFenced when the
	// job wants another run, or has ended or been parked; ErrNotFound.
	Create(ctx context.Context, run Run) error
	// Begin takes the run over: it raises the fence, makes this store's owner
	// the run's, and loads it. It returns an *OwnedError when another live owner
	// has it (this process counts too), a *LimitedError when there is no place for
	// it, see [Limiter], and ErrNotFound.
	Begin(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Due loads runs that have no live owner, are not held, and are due.
	// Each has a claim that begins with its first Commit: that makes this store's
	// owner the run's and writes the checkpoint, or, with Release, writes it and
	// leaves the run without an owner. It returns ErrFenced, and changes nothing, when
	// the run is not as it was loaded any more, or is being changed: another owner was faster, or a message
	// has come; and a *LimitedError when the checkpoint does not release it, and its place
	// was taken meanwhile. So a run that is woken, does one thing and waits again costs one
	// transaction. Runs for which there is no place, see [Limiter], are left out; those
	// of q.Except count as driven. Due also returns when to ask again: when the next run is due,
	// perhaps one of another flow; zero when none is.
	Due(ctx context.Context, q DueQuery) (due []Due, next time.Time, err error)
	// Commit writes a checkpoint under a claim. It returns ErrFenced when the
	// claim is void or the sequence number is not the next; when the very
	// checkpoint was committed before (after ErrUnsure), it returns nil. It
	// returns ErrInvalid for a checkpoint that does not continue the run. The
	// checkpoint is not kept, but the values in it may be.
	//
	// The first one under a claim of ClaimNew makes the run, as Create does, takes it
	// over and writes the checkpoint, all of it or nothing; with Release the run has no
	// owner from the beginning. When there is a run of that id it returns ErrExists,
	// and otherwise the errors of Create. When the checkpoint does not release it and there is
	// no place for it, the run is made, without the checkpoint, due as ClaimNew was told, and a
	// *LimitedError returned.
	Commit(ctx context.Context, claim Claim, cp *Checkpoint) error
	// Release gives up the run, to be taken up when due (zero: only when a message
	// comes). If the wakeup counter is no longer at wakeups, it changes nothing and
	// returns ErrNewMessages. If the claim is void, it returns ErrFenced.
	Release(ctx context.Context, claim Claim, wakeups int64, due time.Time) error
	// Step takes a run without an owner through one event, in one transaction:
	// it raises the fence, loads, calls step and commits what it returns; with a
	// nil checkpoint nothing but the fence changes. The run has no owner
	// afterwards either: it is due as the checkpoint's Head says. An error of step
	// undoes all and is returned. It returns an *OwnedError when a live owner has
	// the run, and ErrNotFound. Step must not call the store, and may be called
	// again when the database was busy.
	Step(ctx context.Context, run string, step func(*Snapshot) (*Checkpoint, error)) error

	Inbox
	Limiter
	Suspects
	Reader
	Jobs
	Schedules

	// PutDefinition stores a definition unless it is there, and returns it with
	// its version.
	PutDefinition(ctx context.Context, def Definition) (Definition, error)
	// Definition returns the definition of that hash.
	Definition(ctx context.Context, hash string) (Definition, error)
	// Definitions returns the definitions of that name, the newest version first;
	// "" is every name, in their order. Text is left out.
	Definitions(ctx context.Context, name string) ([]Definition, error)

	// Outgoing returns up to limit things that want to be sent by now, of each
	// run and target only the first.
	Outgoing(ctx context.Context, now time.Time, limit int) ([]Outgoing, error)
	// Sent deletes what was sent.
	Sent(ctx context.Context, n ...int64) error
	// Unsent stores that sending failed: Attempts, NotUntil, Parked and Error of
	// out replace those there.
	Unsent(ctx context.Context, out Outgoing) error

	// Purge deletes ended runs and all that belongs to them, but for what still
	// has to be sent. Runs that have not ended, or are owned, are left alone and
	// not counted.
	Purge(ctx context.Context, runs ...string) (int, error)
	// Owner returns who this store's claims belong to.
	Owner() Owner
	// Database returns a text that names the database among those that processes of
	// this machine use. All stores of one database return the same text.
	Database() string
	// Evictions returns how often another process took this store's owner for dead, since
	// the store was opened and as far as it knows: a process that was stopped for longer
	// than its lease, or whose lock was taken away. What it had is free, so claims
	// from before may be void; the fence keeps them from writing. One that is cut off
	// from its database counts as such before others may think so, and again as long
	// as that lasts. The number rises before the channel of Changed is closed, and the
	// owner lives again from then on.
	Evictions() int64
	// Owners returns the processes that own runs or did so lately.
	Owners(ctx context.Context) ([]Owner, error)
	// Close gives up all claims and ends the store's goroutines. Runs stay as
	// they were last committed; those it owned are due at once.
	Close() error
}

// A WriteChecker is a store that can find out whether it can write. Stores on a
// database are.
type WriteChecker interface {
	// CheckWrite commits a small write, which changes nothing that others can see. It
	// gives up when ctx ends. Its error names what is in the way, such as another
	// process that has the turn to write.
	CheckWrite(ctx context.Context) error
}

// A Transactor is a store in whose database users may have tables of their own,
// and write them in one transaction with the record that they did. Stores on a
// database are; the one in memory is not.
type Transactor interface {
	// Transact calls fn with a transaction in which the claim was checked, and
	// commits what fn did together with its result, under the run and key. When
	// that key was committed before, it returns that result and fn is not called.
	// So after a crash at any point, what fn wrote is there exactly when its
	// record is, and calling Transact again with the same key does it once.
	//
	// An error of fn rolls all back and is returned as it is; a panic rolls all
	// back and goes on. It returns ErrFenced when the claim is void; ErrInvalid
	// when the key is empty or longer than MaxKey, or fn ended the transaction
	// itself, which undoes everything; [atom.ErrValueTooLarge] for a result above
	// [atom.MaxValue]; the error of ctx when that ended before fn did; and
	// ErrUnsure when the answer of the COMMIT was lost: call it again, the key
	// tells.
	//
	// The transaction is alone: fn holds up all other writers of the database
	// (on SQLite, every run), so it must be quick, wait for nothing outside, and
	// not call the store. A deadline of ctx bounds it. fn may be called again when
	// the database was busy. It must leave the tables of Ebb alone.
	Transact(ctx context.Context, claim Claim, key string, fn func(tx *sql.Tx) (atom.Value, error)) (atom.Value, error)
}

// Inbox is how those who do not own a run reach it.
type Inbox interface {
	// Send inserts messages into the inboxes of runs, and increments their wakeup
	// counters. A run without an owner is due at once. Send drops a message with a Key
	// that the run has or had. If one of the runs does not exist, it sends no message
	// and returns ErrNotFound.
	Send(ctx context.Context, messages ...Message) error
	// EndToken completes (failure nil) or fails an open token, and sends its run
	// the message of MessageToken that says so, in one transaction. It returns
	// ErrGone or ErrNotFound.
	EndToken(ctx context.Context, id string, result atom.Value, failure *atom.Failure) (Token, error)
	// TakeToken gives the work that has waited longest in any of some queues to a
	// worker: the token is the worker's from now on, and is as if heard of just now.
	// Work whose lease has run out is there to be taken again; it waits since then.
	// The run is sent the message of MessageTaken, or MessageRetaken, when it is taken
	// for the first time and has no Work of its own, and whenever limits count from
	// then on, see Token.Due. It returns ErrNotFound when there is none.
	TakeToken(ctx context.Context, t Taking) (Token, error)
	// KeepToken is Beat by the worker to which TakeToken gave the token under that
	// number. The worker keeps the token for another lease, also when its lease had run
	// out and no other worker has taken the token since. If another worker has, it
	// returns ErrTaken. It also returns the errors of Beat.
	KeepToken(ctx context.Context, id string, take int64, lease time.Duration) (Token, error)
	// FinishToken is EndToken by that worker, or with Untaken while no worker has taken
	// the token. If another worker has taken it since, it changes nothing and returns
	// ErrTaken.
	FinishToken(ctx context.Context, id string, take int64, result atom.Value, failure *atom.Failure) (Token, error)
	// Beat renews an open token's heartbeat. It returns ErrGone or ErrNotFound.
	Beat(ctx context.Context, id string) (Token, error)
	// Messages returns the run's wakeup counter and messages.
	Messages(ctx context.Context, run string) (int64, []Message, error)
	// Changed returns a channel that is closed when something may have come for any
	// of this store's runs: a message, a job, by this process or another. It is
	// only a hint. Take the channel first, then read the rows, then wait.
	Changed() <-chan struct{}
	// Version returns a number that rises when messages may have come or runs may have
	// become due, before the channel of Changed is closed. It may stay the same when
	// only jobs came, or runs ended. While it is what it was before a call of
	// RunsWithMessages or Due, another call would return nothing new, except for what
	// became due with time. Version does not query a database.
	Version() int64
	// RunsWithMessages returns those runs of this store's owner that have messages which
	// came since, and the number to pass next time; 0 asks for all that have messages. Its
	// cost grows with the messages that came since, not with the runs that are owned.
	// The run whose message came last is the last. A run may be returned again. It is
	// not returned when its messages were taken meanwhile. So an owner of many runs
	// takes the channel of Changed, calls RunsWithMessages once, calls Messages for the
	// runs it returned, and waits.
	RunsWithMessages(ctx context.Context, since int64) (changed []Arrival, now int64, err error)
}

// Reader is what may be looked at. Records are copies; Held values are filled
// in. What is asked about a run that does not exist is answered ErrNotFound.
type Reader interface {
	Run(ctx context.Context, id string) (Run, error)
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	// Labeled returns the ids of the runs that have not ended and have a label with
	// one of these keys and this value, in their order, by the key. It leaves out a key
	// that no such run has. It is one query, however many keys there are. Its cost grows
	// with the keys and the runs that it finds. It returns ErrInvalid for a text that
	// cannot be a key or a value of a label.
	Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error)
	// Descendants returns how many runs were created with that Run.Root. Purging some of
	// them takes nothing away: the count ends when neither the root nor a run with that root
	// is left. It is 0, and no error, for what no run has as its root.
	Descendants(ctx context.Context, root string) (int64, error)
	// Atoms returns the atoms of a run that are stored and that q selects, ordered by path.
	// With a limit it may return fewer, see [PageBytes]; none is left when it returns none.
	Atoms(ctx context.Context, run string, q AtomQuery) ([]Atom, error)
	// Atom returns one atom of a run.
	Atom(ctx context.Context, run, path string) (Atom, error)
	// AtomsAt returns the atoms of a run that are stored at these paths, as they
	// are at one moment, in the order of the paths.
	AtomsAt(ctx context.Context, run string, paths ...string) ([]Atom, error)
	// Tries returns all that the retry at path decides by, also those tries that
	// its record does not hold; nothing for what is no retry.
	Tries(ctx context.Context, run, path string) (atom.History, error)
	// History returns up to limit entries with numbers above after; limit 0 is all. With a
	// limit it may return fewer, see [PageBytes]; none is left when it returns none.
	History(ctx context.Context, run string, after int64, limit int) ([]Entry, error)
	// Undos returns up to limit entries of the undo stack with numbers below below, the
	// topmost first; below 0 begins at the top, limit 0 is all.
	Undos(ctx context.Context, run string, below int64, limit int) ([]Undo, error)
	// Timers returns up to limit timers due by then, of runs without an owner,
	// nearest first.
	Timers(ctx context.Context, by time.Time, limit int) ([]TimerRow, error)
	// RunTimers returns the timers of one run, nearest first.
	RunTimers(ctx context.Context, run string) ([]TimerRow, error)
	// RunTokens returns the open tokens of one run, ordered by path.
	RunTokens(ctx context.Context, run string) ([]Token, error)
	// RunOutbox returns up to limit things that one run still has to send, those
	// that are parked included, in the order in which they were made. They outlive a
	// run that is purged: nothing is returned for one that is not there and has left
	// nothing. Limit 0 is all.
	RunOutbox(ctx context.Context, run string, limit int) ([]Outgoing, error)
	Token(ctx context.Context, id string) (Token, error)
}

// An AtomQuery selects atoms of a run. The zero query selects all.
type AtomQuery struct {
	Live  bool   // only those that are needed to go on with the run
	After string // only those with paths behind this one, for paging; "" is all
	Limit int    // 0 is all
}

// A RunQuery selects runs, newest first, or with Due those that are due longest
// first. The zero query selects all.
type RunQuery struct {
	Flow   string
	States []states.Flow     // any of these; none is every state
	Labels map[string]string // all of these
	Due    time.Time         // runs due by then that no live owner has, if not zero
	Top    bool              // those that no other run began
	Before string            // after the run of this id in the listing, for paging
	Limit  int               // 0 is all
}

// Jobs are the job records; package jobs makes a board of them.
type Jobs interface {
	// PostJob adds a job. It returns ErrExists when the id is taken.
	PostJob(ctx context.Context, job Job) error
	// ClaimJobs claims up to q.Limit jobs that are free, or whose lease has run
	// out, or whose owner has died, by priority (larger first) and then age,
	// raising their epochs. A Limit of 0 is 1. Those that a run has are not free.
	ClaimJobs(ctx context.Context, q JobClaim) ([]Job, error)
	// RenewJob prolongs a claim. It returns ErrFenced when the claim is void.
	RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error
	// EndJob ends a claim outside of a checkpoint, or without a claim changes a job
	// that is not claimed. It returns ErrFenced when the claim is void, or when
	// there is none and the job is claimed; ErrInvalid when its state does not
	// allow the change.
	EndJob(ctx context.Context, end JobEnd) error
	Job(ctx context.Context, id string) (Job, error)
	JobList(ctx context.Context, q JobQuery) ([]Job, error)
	// JobCounts counts the jobs that have not ended, state by state in their order;
	// states that none is in are left out. It looks at all jobs.
	JobCounts(ctx context.Context) ([]JobCount, error)
	// PurgeJobs deletes jobs that have ended and whose run is not there, or not any
	// more, and returns how many. An id may then be posted anew.
	PurgeJobs(ctx context.Context, q JobPurge) (int, error)
}

// A JobCount says how many jobs are in a state.
type JobCount struct {
	State states.Job
	Jobs  int
	Since time.Time // the oldest was posted then, or was not to be begun before
}

// A JobPurge says which jobs that have ended are deleted, those first that ended
// first.
type JobPurge struct {
	Before time.Time // those that ended before then
	Flow   string    // "" is every flow
	Except []string  // flows whose jobs are kept
	Limit  int       // 0 is all
}

// A JobClaim says which jobs to claim.
type JobClaim struct {
	Flows  []string          // any of these; none is every flow
	Labels map[string]string // a job's labels must be among these
	Lease  time.Duration
	Limit  int
}

// A JobQuery selects jobs, in the order they would be claimed.
type JobQuery struct {
	States []states.Job // any of these; none is every state
	Limit  int          // 0 is all
}
