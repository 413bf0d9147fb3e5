package sfn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
)

// Types of resources, as ARNs name them.
const (
	machineType  = "stateMachine"
	activityType = "activity"
)

// An address is what an ARN says:
//
//	arn:aws:states:us-east-1:000000000000:stateMachine:NAME[/LABEL][:REST[:REST]][#CASE]
type address struct {
	text  string   // the ARN, without the test case
	kind  string   // type of the resource, such as "stateMachine"
	name  string   // name of the machine or of the activity
	label string   // label of a distributed Map state; "" if there is none
	rest  []string // what follows the name: a version or an alias, or the name of an execution
	test  string   // name of a test case of a mock configuration; "" if there is none
	ours  bool     // the partition, the region and the account are those of this server
}

// address parses an ARN of a resource of one of the given types.
func (s *Server) address(text string, kinds ...string) (*address, error) {
	const head, parts = 6, 7 // arn, partition, service, region, account, type; then the name
	arn, test, _ := strings.Cut(text, "#")
	part := strings.SplitN(arn, ":", parts)
	switch {
	case part[0] != "arn":
		return nil, aws.Errorf("InvalidArn", "Invalid Arn: 'Invalid ARN prefix: %s'", text)
	case len(part) < parts || part[2] != "states" || part[head] == "":
		return nil, invalidARN(text)
	case !slices.Contains(kinds, part[5]):
		return nil, aws.Errorf("InvalidArn", "Invalid Arn: 'Resource type not valid in this context: %s'", part[5])
	}
	rest := strings.Split(part[head], ":")
	name, label, _ := strings.Cut(rest[0], "/")
	if !validName(name) || slices.Contains(rest[1:], "") {
		return nil, invalidARN(text)
	}
	c := &s.config.Account
	return &address{
		text: arn, kind: part[5], name: name, label: label, rest: rest[1:], test: test,
		ours: part[1] == c.Partition && part[3] == c.Region && part[4] == c.ID,
	}, nil
}

// arn returns the ARN of a resource, such as "arn:aws:states:us-east-1:000000000000:stateMachine:trip:1".
func (s *Server) arn(kind string, rest ...string) string {
	return s.config.Account.ARN("states", append([]string{kind}, rest...)...)
}

func (s *Server) machineARN(machine string) string { return s.arn(machineType, machine) }

func (s *Server) versionARN(machine string, number int) string {
	return s.arn(machineType, machine, strconv.Itoa(number))
}

func (s *Server) aliasARN(machine, alias string) string { return s.arn(machineType, machine, alias) }

// machineAddress parses the ARN of a machine, or of a version or an alias of it. Operations on machines do not take the
// ARN of a distributed Map state.
func (s *Server) machineAddress(text string) (*address, error) {
	a, err := s.address(text, machineType)
	if err != nil {
		return nil, err
	}
	switch {
	case a.label != "":
		return nil, invalid("API_DOES_NOT_SUPPORT_LABELED_ARNS", "This API does not support labeled ARNs: '%s'", text)
	case len(a.rest) > 1:
		return nil, invalidARN(text)
	}
	return a, nil
}

// version returns the number of the version that a machine's ARN names; 0 if it names none.
func (a *address) version() int {
	if len(a.rest) != 1 {
		return 0
	}
	n, err := strconv.Atoi(a.rest[0])
	if err != nil || n < 1 || strconv.Itoa(n) != a.rest[0] {
		return 0
	}
	return n
}

// alias returns the name of the alias that a machine's ARN names; "" if it names none.
func (a *address) alias() string {
	if len(a.rest) != 1 {
		return ""
	}
	if _, err := strconv.Atoi(a.rest[0]); err == nil {
		return ""
	}
	return a.rest[0]
}
