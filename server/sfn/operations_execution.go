package sfn

import "github.com/ebbflow/ebb/server/aws"

// executionOperations adds the operations on executions, map runs and tasks.
func (s *Server) executionOperations(all map[string]aws.Operation) {
	operation(s, all, "DescribeExecution", (*Server).describeExecution)
	operation(s, all, "DescribeStateMachineForExecution", (*Server).describeForExecution)
	operation(s, all, "GetExecutionHistory", (*Server).getExecutionHistory)
	operation(s, all, "ListExecutions", (*Server).listExecutions)
	operation(s, all, "RedriveExecution", (*Server).redriveExecution)
	operation(s, all, "StopExecution", (*Server).stopExecution)
	if s.config.Start != nil {
		operation(s, all, "StartExecution", (*Server).startExecution)
		operation(s, all, "StartSyncExecution", (*Server).startSyncExecution)
	}

	operation(s, all, "DescribeMapRun", (*Server).describeMapRun)
	operation(s, all, "ListMapRuns", (*Server).listMapRuns)
	operation(s, all, "UpdateMapRun", (*Server).updateMapRun)

	operation(s, all, "GetActivityTask", (*Server).getActivityTask)
	operation(s, all, "SendTaskFailure", (*Server).sendTaskFailure)
	operation(s, all, "SendTaskHeartbeat", (*Server).sendTaskHeartbeat)
	operation(s, all, "SendTaskSuccess", (*Server).sendTaskSuccess)
}
