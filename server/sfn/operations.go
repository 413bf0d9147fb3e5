package sfn

import "github.com/ebbflow/ebb/server/aws"

// operations returns the operations that this version of Ebb implements.
func (s *Server) operations() map[string]aws.Operation {
	all := map[string]aws.Operation{}

	operation(all, "CreateStateMachine", s.createStateMachine)
	operation(all, "DeleteStateMachine", s.deleteStateMachine)
	operation(all, "DescribeStateMachine", s.describeStateMachine)
	operation(all, "ListStateMachines", s.listStateMachines)
	operation(all, "UpdateStateMachine", s.updateStateMachine)
	operation(all, "ValidateStateMachineDefinition", s.validateStateMachineDefinition)

	operation(all, "DeleteStateMachineVersion", s.deleteStateMachineVersion)
	operation(all, "ListStateMachineVersions", s.listStateMachineVersions)
	operation(all, "PublishStateMachineVersion", s.publishStateMachineVersion)

	operation(all, "CreateStateMachineAlias", s.createStateMachineAlias)
	operation(all, "DeleteStateMachineAlias", s.deleteStateMachineAlias)
	operation(all, "DescribeStateMachineAlias", s.describeStateMachineAlias)
	operation(all, "ListStateMachineAliases", s.listStateMachineAliases)
	operation(all, "UpdateStateMachineAlias", s.updateStateMachineAlias)

	operation(all, "ListTagsForResource", s.listTagsForResource)
	operation(all, "TagResource", s.tagResource)
	operation(all, "UntagResource", s.untagResource)

	operation(all, "CreateActivity", s.createActivity)
	operation(all, "DeleteActivity", s.deleteActivity)
	operation(all, "DescribeActivity", s.describeActivity)
	operation(all, "ListActivities", s.listActivities)

	operation(all, "TestState", s.testState)

	s.executionOperations(all)

	return all
}
