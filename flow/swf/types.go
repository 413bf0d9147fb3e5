package swf

// An Execution names one run of a workflow.
type Execution struct {
	WorkflowID string `json:"workflowId"`
	RunID      string `json:"runId"`
}

// A Type names a workflow type or an activity type.
type Type struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A TaskList names a task list.
type TaskList struct {
	Name string `json:"name"`
}

// WorkflowDefaults are the defaults of a registered workflow type: the configuration that DescribeWorkflowType returns.
// The zero value of a member means that the type has no such default.
type WorkflowDefaults struct {
	DefaultTaskList                     *TaskList `json:"defaultTaskList,omitempty"`
	DefaultTaskPriority                 string    `json:"defaultTaskPriority,omitempty"`
	DefaultTaskStartToCloseTimeout      string    `json:"defaultTaskStartToCloseTimeout,omitempty"`
	DefaultExecutionStartToCloseTimeout string    `json:"defaultExecutionStartToCloseTimeout,omitempty"`
	DefaultChildPolicy                  string    `json:"defaultChildPolicy,omitempty"`
	DefaultLambdaRole                   string    `json:"defaultLambdaRole,omitempty"`
}

// ActivityDefaults are the defaults of a registered activity type: the configuration that DescribeActivityType returns.
// The zero value of a member means that the type has no such default.
type ActivityDefaults struct {
	DefaultTaskList                   *TaskList `json:"defaultTaskList,omitempty"`
	DefaultTaskPriority               string    `json:"defaultTaskPriority,omitempty"`
	DefaultTaskHeartbeatTimeout       string    `json:"defaultTaskHeartbeatTimeout,omitempty"`
	DefaultTaskScheduleToStartTimeout string    `json:"defaultTaskScheduleToStartTimeout,omitempty"`
	DefaultTaskScheduleToCloseTimeout string    `json:"defaultTaskScheduleToCloseTimeout,omitempty"`
	DefaultTaskStartToCloseTimeout    string    `json:"defaultTaskStartToCloseTimeout,omitempty"`
}

// The child policies of Amazon SWF. When an execution is terminated or times out, its policy decides what happens to
// its children.
const (
	PolicyTerminate     = "TERMINATE"
	PolicyRequestCancel = "REQUEST_CANCEL"
	PolicyAbandon       = "ABANDON"
)

// A Configuration is how an execution runs: the executionConfiguration that DescribeWorkflowExecution returns.
type Configuration struct {
	TaskList                     *TaskList `json:"taskList,omitempty"`
	TaskPriority                 string    `json:"taskPriority,omitempty"`
	TaskStartToCloseTimeout      string    `json:"taskStartToCloseTimeout,omitempty"`
	ExecutionStartToCloseTimeout string    `json:"executionStartToCloseTimeout,omitempty"`
	ChildPolicy                  string    `json:"childPolicy,omitempty"`
	LambdaRole                   string    `json:"lambdaRole,omitempty"`
}

// Complete sets what is absent to the defaults of the type. It returns the first member that has neither a value nor a
// default, in the order in which the service looks for them, or "". An execution need have neither a priority nor a
// role.
func (c *Configuration) Complete(d *WorkflowDefaults) (undefined string) {
	fill(&c.ExecutionStartToCloseTimeout, d.DefaultExecutionStartToCloseTimeout)
	fill(&c.TaskStartToCloseTimeout, d.DefaultTaskStartToCloseTimeout)
	fill(&c.ChildPolicy, d.DefaultChildPolicy)
	fill(&c.LambdaRole, d.DefaultLambdaRole)
	fill(&c.TaskPriority, d.DefaultTaskPriority)
	if c.TaskList == nil {
		c.TaskList = d.DefaultTaskList
	}
	switch {
	case c.ExecutionStartToCloseTimeout == "":
		return "executionStartToCloseTimeout"
	case c.TaskList == nil:
		return "taskList"
	case c.TaskStartToCloseTimeout == "":
		return "taskStartToCloseTimeout"
	case c.ChildPolicy == "":
		return "childPolicy"
	default:
		return ""
	}
}

func fill(member *string, value string) {
	if *member == "" {
		*member = value
	}
}
