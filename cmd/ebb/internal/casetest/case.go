package casetest

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/storage"
)

// A File is a case file.
type File struct {
	Name       string            // path of the file
	Definition string            // path of the definition that it tests
	Buckets    map[string]string // folders that stand for the buckets of distributed Maps
	Cases      []*Case           // in the order of the file
}

// A Case is one run of the definition, with its mocks and expectations.
type Case struct {
	Name    string
	At      document.Place
	Input   atom.Value          // nil: {}
	Start   time.Time           // virtual time at which the run begins
	Limit   time.Duration       // virtual time after which a run that has not ended counts as waiting
	Mocks   map[string][]Answer // by state, function or task
	Undo    map[string][]Answer // answers of tasks that undo; without an answer, an undo succeeds
	Signals []Signal
	Expect  Expectation
}

// An Answer is what a mocked task answers.
type Answer struct {
	At      document.Place
	Result  atom.Value    // if Failure is nil
	Failure error         // nil: success
	After   time.Duration // virtual time that the task takes
	Never   bool          // the task does not answer
	Times   int           // number of calls that get the answer; 0 is all further ones
	When    *document.Document
}

// A Signal is what the case sends to the run.
type Signal struct {
	After   time.Duration // virtual time since the start of the run
	Message storage.Message
	Event   *cloudevents.Event // sent instead of Message; nil: none
}

// An Expectation is what a case expects. A field that is nil or empty expects nothing.
type Expectation struct {
	At       document.Place // of the expectation, or of the case
	Status   *document.Document
	Error    *document.Document
	Cause    *document.Document
	Output   *document.Document // equals the run's output
	Includes *document.Document // the run's output has at least this
	Path     *document.Document // states that are entered, in order
	Undone   *document.Document // states whose work is undone, in order
	Duration *document.Document // virtual time that the run takes
	Calls    []Call
}

// A Call expects calls of a task. If a case lists calls of a state, the run must make these calls, and no others of
// that state.
type Call struct {
	At       document.Place
	State    string             // state, function or task
	Times    int                // number of calls in succession
	Input    *document.Document // equals the task's input; nil: any
	Includes *document.Document // the task's input has at least this; nil: any
}

// The statuses that a case may expect.
const (
	statusSuccess  = "SUCCESS"
	statusFailure  = "FAILURE"
	statusReverted = "REVERTED"
	statusWaiting  = "WAITING" // the run has not ended within the limit
)

var statuses = []string{statusSuccess, statusFailure, statusReverted, statusWaiting}

// The bounds of a case file.
const (
	//limit:command case file of [`ebb test`](../how-to/test-a-machine.md) | {B} | refused
	maxFile = 4 << 20
	//limit:command cases of a file, answers of a mock, signals of a case | {} each | refused
	maxItems   = 10_000
	usualLimit = 365 * 24 * time.Hour // virtual time
	//limit:command virtual time of a case; real time, by `--timeout` | 100 years; 1 min* | WAITING; the case fails
	maxLimit = 100 * 365 * 24 * time.Hour
)
