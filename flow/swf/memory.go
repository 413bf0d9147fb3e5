package swf

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A memory is what an execution remembers: what is open in it, and a few facts about its past.
type memory struct {
	Due       int64          `json:"due,omitempty"`       // when the execution times out, in milliseconds
	Scheduled *scheduledTask `json:"scheduled,omitempty"` // the decision task that waits for a decider
	Started   *startedTask   `json:"started,omitempty"`   // the decision task that a decider has
	// Previous is the start of the last decision task that was completed.
	Previous int64     `json:"previous,omitempty"`
	Override *override `json:"override,omitempty"`

	Activities map[string]openActivity `json:"activities,omitempty"` // by activityId, see [shorten]
	Timers     map[string]int64        `json:"timers,omitempty"`     // by timerId: the TimerStarted event
	Lambdas    map[string]int64        `json:"lambdas,omitempty"`    // by id: the LambdaFunctionScheduled event
	Children   map[string]openChild    `json:"children,omitempty"`   // by the name of the node

	Undo    []UndoType `json:"undo,omitempty"`    // of activities that are to be undone if the execution fails
	Undoing *undoState `json:"undoing,omitempty"` // of an execution that undoes

	LatestActivity int64 `json:"latestActivity,omitempty"` // when the last event of an activity was, in milliseconds
	Context        int64 `json:"context,omitempty"`        // the event with the latest context
	Left           int   `json:"left,omitempty"`           // how many activities were open when the execution closed
}

// A scheduledTask is a scheduled decision task. While another one is started, it has no node, so no decider can take
// it.
type scheduledTask struct {
	Event   int64  `json:"event"`
	List    string `json:"list"`
	ToStart string `json:"toStart,omitempty"` // under a temporary override
	Offered bool   `json:"offered,omitempty"` // it has a node
}

// A startedTask is a started decision task.
type startedTask struct {
	Event int64 `json:"event"`
}

// An override is the task list of decision tasks that a decider has set; with ToStart until a timeout.
type override struct {
	List    string `json:"list"`
	ToStart string `json:"toStart,omitempty"`
}

// An openActivity is a scheduled or started activity task.
type openActivity struct {
	Scheduled       int64     `json:"s"`
	Started         int64     `json:"t,omitempty"`
	CancelRequested int64     `json:"c,omitempty"` // the last request
	Undo            *UndoType `json:"u,omitempty"` // what undoes it, if it is started
}

// An openChild is an execution that a decision started.
type openChild struct {
	WorkflowID string `json:"w"` // see [shorten]
	Initiated  int64  `json:"i"`
}

func newMemory() memory {
	return memory{
		Activities: map[string]openActivity{}, Timers: map[string]int64{}, Lambdas: map[string]int64{},
		Children: map[string]openChild{},
	}
}

// close forgets everything that was open, except how many activities were: the service keeps counting them.
func (m *memory) close() {
	*m = memory{Previous: m.Previous, LatestActivity: m.LatestActivity, Context: m.Context, Left: len(m.Activities)}
}

// A Description is what DescribeWorkflowExecution reports of an execution beside its start.
type Description struct {
	OpenCounts OpenCounts
	// LatestActivityTaskTimestamp is when an activity task last was scheduled, started or ended; zero if none was.
	LatestActivityTaskTimestamp time.Time
	// LatestContextEvent is the DecisionTaskCompleted event that has the latest execution context; 0 if none has.
	LatestContextEvent int64
	// DecisionTaskList is the task list of the next decision task.
	DecisionTaskList string
}

// OpenCounts is how much is open in an execution.
type OpenCounts struct {
	OpenActivityTasks           int `json:"openActivityTasks"`
	OpenDecisionTasks           int `json:"openDecisionTasks"`
	OpenTimers                  int `json:"openTimers"`
	OpenChildWorkflowExecutions int `json:"openChildWorkflowExecutions"`
	OpenLambdaFunctions         int `json:"openLambdaFunctions"`
}

// Describe reads the memory of the run of an execution. If the run has ended, only activities are open, even if its
// memory differs, because the engine may have ended the run.
func Describe(value atom.Value) (*Description, error) {
	var m memory
	if err := value.Decode(&m); err != nil {
		return nil, err
	}
	d := &Description{
		OpenCounts: OpenCounts{
			OpenActivityTasks: len(m.Activities) + m.Left, OpenTimers: len(m.Timers), OpenLambdaFunctions: len(m.Lambdas),
			OpenChildWorkflowExecutions: len(m.Children),
		},
		LatestContextEvent: m.Context,
	}
	if m.Scheduled != nil || m.Started != nil {
		d.OpenCounts.OpenDecisionTasks = 1
	}
	if m.LatestActivity != 0 {
		d.LatestActivityTaskTimestamp = time.UnixMilli(m.LatestActivity).UTC()
	}
	if m.Override != nil {
		d.DecisionTaskList = m.Override.List
	}
	return d, nil
}
