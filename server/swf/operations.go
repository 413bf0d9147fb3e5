package swf

import "github.com/ebbflow/ebb/server/aws"

// operations returns the operations of the API.
func (s *Server) operations() map[string]aws.Operation {
	all := map[string]aws.Operation{}

	operation(s, all, "DeprecateDomain", s.deprecateDomain)
	operation(s, all, "DescribeDomain", s.describeDomain)
	operation(s, all, "ListDomains", s.listDomains)
	operation(s, all, "RegisterDomain", s.registerDomain)
	operation(s, all, "UndeprecateDomain", s.undeprecateDomain)

	operation(s, all, "ListTagsForResource", s.listTagsForResource)
	operation(s, all, "TagResource", s.tagResource)
	operation(s, all, "UntagResource", s.untagResource)

	typeOperations[registerActivityTypeInput, activityTypeInput, activityTypeInfo]{s, activityTypes, activityInfo}.add(all)
	typeOperations[registerWorkflowTypeInput, workflowTypeInput, workflowTypeInfo]{s, workflowTypes, workflowInfo}.add(all)

	s.executionOperations(all)

	return all
}

// executionOperations adds the operations on executions and tasks.
func (s *Server) executionOperations(all map[string]aws.Operation) {
	operation(s, all, "RequestCancelWorkflowExecution", s.requestCancelWorkflowExecution)
	operation(s, all, "SignalWorkflowExecution", s.signalWorkflowExecution)
	operation(s, all, "StartWorkflowExecution", s.startWorkflowExecution)
	operation(s, all, "TerminateWorkflowExecution", s.terminateWorkflowExecution)

	operation(s, all, "CountClosedWorkflowExecutions", s.countClosedWorkflowExecutions)
	operation(s, all, "CountOpenWorkflowExecutions", s.countOpenWorkflowExecutions)
	operation(s, all, "DescribeWorkflowExecution", s.describeWorkflowExecution)
	operation(s, all, "GetWorkflowExecutionHistory", s.getWorkflowExecutionHistory)
	operation(s, all, "ListClosedWorkflowExecutions", s.listClosedWorkflowExecutions)
	operation(s, all, "ListOpenWorkflowExecutions", s.listOpenWorkflowExecutions)

	operation(s, all, "CountPendingDecisionTasks", s.countPendingDecisionTasks)
	operation(s, all, "PollForDecisionTask", s.pollForDecisionTask)
	operation(s, all, "RespondDecisionTaskCompleted", s.respondDecisionTaskCompleted)

	operation(s, all, "CountPendingActivityTasks", s.countPendingActivityTasks)
	operation(s, all, "PollForActivityTask", s.pollForActivityTask)
	operation(s, all, "RecordActivityTaskHeartbeat", s.recordActivityTaskHeartbeat)
	operation(s, all, "RespondActivityTaskCanceled", s.respondActivityTaskCanceled)
	operation(s, all, "RespondActivityTaskCompleted", s.respondActivityTaskCompleted)
	operation(s, all, "RespondActivityTaskFailed", s.respondActivityTaskFailed)
}
