package sfn

import "github.com/ebbflow/ebb/server/aws"

// operations returns the operations that this version of Ebb implements.
func (s *Server) operations() map[string]aws.Operation {
	all := map[string]aws.Operation{}

	operation(s, all, "CreateStateMachine", (*Server).createStateMachine)
	operation(s, all, "DeleteStateMachine", (*Server).deleteStateMachine)
	operation(s, all, "DescribeStateMachine", (*Server).describeStateMachine)
	operation(s, all, "ListStateMachines", (*Server).listStateMachines)
	operation(s, all, "UpdateStateMachine", (*Server).updateStateMachine)
	operation(s, all, "ValidateStateMachineDefinition", (*Server).validateStateMachineDefinition)

	operation(s, all, "DeleteStateMachineVersion", (*Server).deleteStateMachineVersion)
	operation(s, all, "ListStateMachineVersions", (*Server).listStateMachineVersions)
	operation(s, all, "PublishStateMachineVersion", (*Server).publishStateMachineVersion)

	operation(s, all, "CreateStateMachineAlias", (*Server).createStateMachineAlias)
	operation(s, all, "DeleteStateMachineAlias", (*Server).deleteStateMachineAlias)
	operation(s, all, "DescribeStateMachineAlias", (*Server).describeStateMachineAlias)
	operation(s, all, "ListStateMachineAliases", (*Server).listStateMachineAliases)
	operation(s, all, "UpdateStateMachineAlias", (*Server).updateStateMachineAlias)

	operation(s, all, "ListTagsForResource", (*Server).listTagsForResource)
	operation(s, all, "TagResource", (*Server).tagResource)
	operation(s, all, "UntagResource", (*Server).untagResource)

	operation(s, all, "CreateActivity", (*Server).createActivity)
	operation(s, all, "DeleteActivity", (*Server).deleteActivity)
	operation(s, all, "DescribeActivity", (*Server).describeActivity)
	operation(s, all, "ListActivities", (*Server).listActivities)

	operation(s, all, "TestState", (*Server).testState)

	s.executionOperations(all)

	return all
}
