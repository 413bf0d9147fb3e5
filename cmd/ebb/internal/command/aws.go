package command

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
)

// awsFlags are the flags for the APIs of AWS Step Functions and Amazon SWF.
type awsFlags struct {
	aws                        string // on or off
	account, region, partition string
	quotas, logGroups          []string
	mockFile, undoFile         string

	mocks *tasks.MockFile // nil if there is none
}

const (
	on  = "on"
	off = "off"
)

var onOrOff = []string{on, off}

func (f *awsFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.aws, "aws", on, "serve the APIs of AWS Step Functions and Amazon SWF on --listen: on or off")
	flags.StringVar(&f.account, "aws-account", aws.DefaultAccount, "account in ARNs")
	flags.StringVar(&f.region, "aws-region", aws.DefaultRegion, "region in ARNs and signatures")
	flags.StringVar(&f.partition, "aws-partition", aws.DefaultPartition, "partition in ARNs")
	var names []string
	for _, quota := range slices.Concat(sfn.Quotas(), swf.Quotas()) {
		names = append(names, string(quota.Name))
	}
	flags.StringVar(&f.mockFile, "mock", "",
		"mock file of Step Functions Local, with test cases that clients of AWS name behind a machine's ARN: ARN#CASE")
	flags.StringVar(&f.undoFile, "swf-undo", "",
		"file with activity types of Amazon SWF and what undoes them when an execution does not succeed, on each line "+
			"NAME/VERSION = NAME/VERSION")
	flags.StringArrayVar(&f.logGroups, "log-group", nil,
		"a log group of CloudWatch Logs, NAME=FILE: machines that log to it append their lines to FILE; may be repeated")
	flags.StringArrayVar(&f.quotas, "aws-quota", nil,
		"another quota than AWS's, NAME=NUMBER or NAME=none; names: "+strings.Join(names, ", ")+"; may be repeated")
}

// An awsSettings contains the settings of the APIs that the flags describe.
type awsSettings struct {
	sfn sfn.Config
	swf swf.Config
}

// config returns the settings of the APIs that the flags describe.
func (f *awsFlags) config() (*awsSettings, error) {
	account := aws.Account{ID: f.account, Region: f.region, Partition: f.partition}
	c := &awsSettings{
		sfn: sfn.Config{Account: account, Quotas: map[aws.Quota]int64{}},
		swf: swf.Config{Account: account, Quotas: map[aws.Quota]int64{}},
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
		if slices.ContainsFunc(swf.Quotas(), func(q aws.QuotaInfo) bool { return string(q.Name) == name }) {
			c.swf.Quotas[aws.Quota(name)] = number
		} else {
			c.sfn.Quotas[aws.Quota(name)] = number // package sfn refuses an unknown quota
		}
	}
	if err := f.readUndo(&c.swf); err != nil {
		return c, err
	}
	if err := f.readLogGroups(&c.sfn); err != nil {
		return c, err
	}
	return c, f.readMocks(&c.sfn)
}

// maxUndoFile is the maximum size in bytes of the file of --swf-undo.
//
//limit:swf size of the file of `--swf-undo` | {B} | exit status 2
const maxUndoFile = 1 << 20

// readUndo reads the file of --swf-undo.
func (f *awsFlags) readUndo(c *swf.Config) error {
	if f.undoFile == "" {
		return nil
	}
	text, err := limitedfile.Read(f.undoFile, maxUndoFile)
	if err != nil {
		return exit.Usagef("--swf-undo: %w", err)
	}
	if c.Undo, err = swf.ParseUndo(string(text)); err != nil {
		return exit.Usagef("--swf-undo: %s: %w", f.undoFile, err)
	}
	return nil
}

// readMocks reads the file of --mock.
func (f *awsFlags) readMocks(c *sfn.Config) error {
	if f.mockFile == "" {
		return nil
	}
	var err error
	if f.mocks, err = definition.ReadMocks(f.mockFile); err != nil {
		return exit.Usagef("--mock: %w", err)
	}
	c.Mocked = func(machine, testCase string) error {
		_, err := f.mocks.Mocks(machine, testCase)
		return err
	}
	return nil
}

// addMocks gives the tasks of a run the mocks of the test case with which a client started it.
func (f *awsFlags) addMocks(run *storage.Run, r *tasks.Registry) (err error) {
	machine, testCase := sfn.TestCase(run)
	switch {
	case testCase == "":
	case f.mocks == nil:
		err = fmt.Errorf("the execution was started with the test case %q (ebb serve --mock FILE has the test cases)",
			testCase)
	default:
		r.Mocks, err = f.mocks.Mocks(machine, testCase)
	}
	return err
}

// swfServer returns the server of the API of Amazon SWF.
func swfServer(store backend.Store, log hclog.Logger, c *swf.Config) (*swf.Server, error) {
	c.Store, c.Log = store, log
	api, err := swf.New(*c)
	if err != nil {
		return nil, exit.Usagef("%s", strings.TrimPrefix(fmt.Sprint(err), "swf: "))
	}
	return api, nil
}

// awsServer returns the server of the API of Step Functions.
func (s subcommands) awsServer(store backend.Store, c *sfn.Config, defaults definition.Beginning) (*sfn.Server, error) {
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

// joinAWS lets Task states call Step Functions at this server, which needs no signature for that.
func (s subcommands) joinAWS(api *sfn.Server) {
	caller := &s.Services().AWS
	caller.Region = api.Region()
	service := api.Service()
	answers := aws.New(aws.Options{Region: api.Region(), Log: s.Logger()}, service)
	caller.Own = map[string]http.Handler{
		service.Name: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if of, _ := (aws.Account{}).Named(atom.CurrentCall(r.Context()).Run); of.ID != "" { // that the run belongs to
				r = r.WithContext(aws.InAccount(r.Context(), of))
			}
			answers.ServeHTTP(w, r)
		}),
	}
}

// callTask does the work of a Task state that TestState tests.
func (s subcommands) callTask(ctx context.Context, b definition.Beginning, resource string, input atom.Value) (
	atom.Value, error,
) {
	registry, err := b.Registry("TestState", s.FolderMode())
	if err != nil {
		return nil, err
	}
	s.Services().Join(registry)
	registry.Allow = s.AllowsURL
	body, err := registry.Task(resource)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, testStateTime)
	defer stop()
	call := &atom.Call{Run: "TestState", Path: "TestState", Attempt: 1}
	return body.Execute(atom.WithCall(ctx, call), atom.Single(input))
}
