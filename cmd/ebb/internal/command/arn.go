package command

import (
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
)

// arnFlags are the flags that give a run the names that AWS would give it. A server of AWS's API has flags of the same
// names.
type arnFlags struct{ account, region, partition string }

func (f *arnFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.account, "aws-account", "",
		"account of 12 digits: $$.Execution.Id and $$.StateMachine.Id are ARNs, as on AWS (default: they are plain names)")
	flags.StringVar(&f.region, "aws-region", aws.DefaultRegion, "region in these ARNs")
	flags.StringVar(&f.partition, "aws-partition", aws.DefaultPartition, "partition in these ARNs")
}

// attributes returns the names of a run of a flow; none without an account.
func (f *arnFlags) attributes(flow, run string) (asl.Attributes, error) {
	if f.account == "" {
		return asl.Attributes{}, nil
	}
	a, err := aws.Account{ID: f.account, Region: f.region, Partition: f.partition}.Completed()
	if err != nil {
		return asl.Attributes{}, exit.Usagef("%v", err)
	}
	return asl.Attributes{
		ExecutionID: a.ARN("states", "execution", flow, run), ExecutionName: run,
		StateMachineID: a.ARN("states", "stateMachine", flow), StateMachineName: flow, Region: a.Region,
	}, nil
}
