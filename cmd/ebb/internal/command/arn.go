package command

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/sfn"
)

// arnFlags are the flags that give a run the names that AWS would give it. A server of AWS's API has flags of the same
// names.
type arnFlags struct{ account, region, partition string }

func (f *arnFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.account, "aws-account", "",
		"account of 12 digits: $$.Execution.Id and $$.StateMachine.Id are ARNs, as on AWS (default: they are plain names)")
	flags.StringVar(&f.region, "aws-region", sfn.DefaultRegion, "region in these ARNs")
	flags.StringVar(&f.partition, "aws-partition", sfn.DefaultPartition, "partition in these ARNs")
}

// accountDigits is the length of an account ID of AWS.
const accountDigits = 12

// attributes returns the names of a run of a flow; none without an account.
func (f *arnFlags) attributes(flow, run string) (asl.Attributes, error) {
	if f.account == "" {
		return asl.Attributes{}, nil
	}
	if len(f.account) != accountDigits || strings.Trim(f.account, "0123456789") != "" {
		return asl.Attributes{}, exit.Usagef("--aws-account %s: an account ID has %d digits", f.account, accountDigits)
	}
	arn := func(rest ...string) string {
		return strings.Join(append([]string{"arn", f.partition, "states", f.region, f.account}, rest...), ":")
	}
	return asl.Attributes{
		ExecutionID: arn("execution", flow, run), ExecutionName: run, StateMachineID: arn("stateMachine", flow),
		StateMachineName: flow, Region: f.region,
	}, nil
}
