package sfn

import "github.com/ebbflow/ebb/server/aws"

// executionOperations adds the operations on executions, map runs and tasks.
func (s *Server) executionOperations(all map[string]aws.Operation) {
	operation(all, "DescribeExecution", s.describeExecution)
	operation(all, "DescribeStateMachineForExecution", s.describeForExecution)
	operation(all, "GetExecutionHistory", s.getExecutionHistory)
	operation(all, "ListExecutions", s.listExecutions)
	operation(all, "RedriveExecution", s.redriveExecution)
	operation(all, "StopExecution", s.stopExecution)
	if s.config.Start != nil {
		operation(all, "StartExecution", s.startExecution)
		operation(all, "StartSyncExecution", s.startSyncExecution)
	}

	operation(all, "DescribeMapRun", s.describeMapRun)
	operation(all, "ListMapRuns", s.listMapRuns)
	operation(all, "UpdateMapRun", s.updateMapRun)

	operation(all, "GetActivityTask", s.getActivityTask)
	operation(all, "SendTaskFailure", s.sendTaskFailure)
	operation(all, "SendTaskHeartbeat", s.sendTaskHeartbeat)
	operation(all, "SendTaskSuccess", s.sendTaskSuccess)
}
