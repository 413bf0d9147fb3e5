package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
)

// awsFlags are the flags for the API of AWS Step Functions.
type awsFlags struct {
	aws                        string // on or off
	account, region, partition string
	quotas                     []string
}

const (
	on  = "on"
	off = "off"
)

var onOrOff = []string{on, off}

func (f *awsFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.aws, "aws", on, "serve the API of AWS Step Functions on --listen: on or off")
	flags.StringVar(&f.account, "aws-account", aws.DefaultAccount, "account in ARNs")
	flags.StringVar(&f.region, "aws-region", aws.DefaultRegion, "region in ARNs and signatures")
	flags.StringVar(&f.partition, "aws-partition", aws.DefaultPartition, "partition in ARNs")
	var names []string
	for _, quota := range sfn.Quotas() {
		names = append(names, string(quota.Name))
	}
	flags.StringArrayVar(&f.quotas, "aws-quota", nil,
		"another quota than AWS's, NAME=NUMBER or NAME=none; names: "+strings.Join(names, ", ")+"; may be repeated")
}

// config returns the settings of the API that the flags describe.
func (f *awsFlags) config() (sfn.Config, error) {
	c := sfn.Config{
		Account: aws.Account{ID: f.account, Region: f.region, Partition: f.partition}, Quotas: map[aws.Quota]int64{},
	}
	if err := session.OneOf("aws", f.aws, onOrOff); err != nil {
		return c, err
	}
	for _, text := range f.quotas {
		name, value, ok := strings.Cut(text, "=")
		number, err := strconv.ParseInt(value, 10, 64)
		switch {
		case value == "none":
			number = aws.NoQuota
		case !ok || err != nil || number < 0:
			return c, exit.Usagef("--aws-quota %s: want NAME=NUMBER or NAME=none", text)
		}
		c.Quotas[aws.Quota(name)] = number
	}
	return c, nil
}

// awsServer returns the server of the API.
func (s subcommands) awsServer(store storage.Store, c *sfn.Config, defaults definition.Beginning) (*sfn.Server, error) {
	c.Store = store
	c.Named = func(resource string) bool { return defaults.Tasks[resource] != "" }
	c.Call = func(ctx context.Context, resource string, input atom.Value) (atom.Value, *atom.Failure) {
		result, err := s.callTask(ctx, defaults, resource, input)
		if err != nil {
			return nil, atom.NewFailure("TestState", 1, err)
		}
		return result, nil
	}
	api, err := sfn.New(*c)
	if err != nil {
		return nil, exit.Usagef("%s", strings.TrimPrefix(fmt.Sprint(err), "sfn: "))
	}
	return api, nil
}

// callTask does the work of a Task state that TestState tests.
func (s subcommands) callTask(ctx context.Context, b definition.Beginning, resource string, input atom.Value) (
	atom.Value, error,
) {
	registry, err := b.Registry("TestState", s.FolderMode())
	if err != nil {
		return nil, err
	}
	body, err := registry.Task(resource)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, testStateTime)
	defer stop()
	call := &atom.Call{Run: "TestState", Path: "TestState", Attempt: 1}
	return body.Execute(atom.WithCall(ctx, call), atom.Single(input))
}
