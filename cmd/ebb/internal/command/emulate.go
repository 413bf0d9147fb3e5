package command

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/buildinfo"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/swf"
)

// localVariables are the variables of AWS's Step Functions Local, by the flags that have their meaning.
var localVariables = map[string]string{
	"aws-account": "AWS_ACCOUNT_ID", "aws-region": "AWS_DEFAULT_REGION", "lambda-endpoint": "LAMBDA_ENDPOINT",
	"mock": "SFN_MOCK_CONFIG", "wait-time-scale": "WAIT_TIME_SCALE",
}

// localEndpoints are variables of Step Functions Local that have no flag of the same meaning.
var localEndpoints = []string{
	"BATCH_ENDPOINT", "DYNAMODB_ENDPOINT", "ECS_ENDPOINT", "GLUE_ENDPOINT", "SAGE_MAKER_ENDPOINT", "SQS_ENDPOINT",
	"SNS_ENDPOINT", "STEP_FUNCTIONS_ENDPOINT",
}

func (s subcommands) emulateCommand() *cobra.Command {
	f := serveFlags{waitScale: 1, emulates: true, functions: true}
	f.listen.open = true
	cmd := &cobra.Command{
		Use:   "emulate [FILE|FOLDER…]",
		Short: "Stand in for AWS Step Functions and Amazon SWF, for development and tests",
		Long: `Stand in for AWS Step Functions and Amazon SWF, as ebb serve does, but for everyone who can
reach it: any credentials are accepted, in any account and region. The account of a request
is its access key if that has 12 digits, else --aws-account. The region is the one that the
request is signed for.

Definitions in FILEs become state machines, in all accounts and regions. If a file
changes, its machines are updated. A FILE may be a template, and a FOLDER a
project of SAM, CDK, CloudFormation or the Serverless Framework, which needs no change:
ebb emulate .

Lambda functions of templates run on this machine, as your user, when they are called: by
state machines, and by clients of AWS Lambda (lambda:Invoke). Other functions are called at
--lambda-endpoint.

By default, only this machine can reach it. With --listen 0.0.0.0:8083, everyone in the
network can, as in a container. Pages of other sites in a browser cannot use it.

The data is in the database of --dsn, and outlives kill -9. With --dsn memory: it is in
memory, and gone when the process ends. The console works as well with it. Other commands,
such as ebb why, cannot see it, and there are no metrics.

POST /_ebb/reset deletes everything but the given definitions, executions included.
POST /_ebb/reset?account=ID does so for one account. So does POST
/_localstack/state/reset, for all. GET /_localstack/health says what is served.

Variables of Step Functions Local are obeyed: AWS_ACCOUNT_ID, AWS_DEFAULT_REGION,
LAMBDA_ENDPOINT, SFN_MOCK_CONFIG and WAIT_TIME_SCALE. The port is the same: 8083.`,
		Example: `  ebb emulate trip.asl.json
  ebb emulate . --parameter Stage=test
  ebb emulate --dsn memory: --skip-waits
  ebb emulate --listen 0.0.0.0:8083 --mock MockConfigFile.json`,
		Annotations: map[string]string{session.LogLevel: "info"},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Logger().Warn(logevent.EmulatorOpen, "listen", f.listen.address)
			for _, name := range localEndpoints {
				if os.Getenv(name) != "" {
					s.Noticef("warning: %s has no effect (use --aws-endpoint URL, one for all services)", name)
				}
			}
			return s.serve(cmd.Context(), args, &f)
		},
	}
	f.addFlags(cmd.Flags(), false)
	s.TemplateFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&f.listen.hosts, "host", nil,
		"a name with a dot by which browsers know this machine; may be repeated")
	cmd.Flags().Float64Var(&f.waitScale, "wait-time-scale", 1,
		"multiply the time of waits and of pauses before retries, from 0 to 1; timeouts stay")
	for flag, variable := range localVariables {
		cmd.Annotations[session.Variable+flag] = variable
	}
	return cmd
}

// An emulated server can begin anew.
type emulated struct {
	machines  *sfn.Server
	workflows *swf.Server
	serving   *serving
	store     backend.Store
}

// emulatorPaths adds the paths that only an emulator has.
func (s subcommands) emulatorPaths(all map[string]http.Handler, e *emulated) {
	reset := server.Only(http.MethodPost, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := s.reset(r.Context(), e, r.URL.Query().Get("account"))
		if err != nil {
			s.Logger().Error(logevent.RequestFailed, "operation", "reset", "error", err)
			(&server.Problem{Status: http.StatusInternalServerError, Code: "internal", Text: err.Error()}).Answer(w)
			return
		}
		answerJSON(w, map[string]int{"discarded": n})
	}))
	version, _, _ := buildinfo.Read()
	all["/_ebb/reset"], all["/_localstack/state/reset"] = reset, reset
	all["/_localstack/health"] = server.Only(http.MethodGet, http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, map[string]any{
				"services": map[string]string{"lambda": "running", "stepfunctions": "running", "swf": "running"},
				"edition":  "ebb", "version": version,
			})
		}))
}

func answerJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = view.NewJSON(w).Encode(body) // the client may have disconnected
}

// reset deletes everything of an account, or everything if the account is "", and loads the given definitions again. It
// returns how many runs there were.
func (s subcommands) reset(ctx context.Context, e *emulated, account string) (int, error) {
	executions, err := e.machines.Reset(ctx, account)
	workflows, swfErr := e.workflows.Reset(ctx, account)
	if err := errors.Join(err, swfErr); err != nil {
		return 0, exit.DatabaseError(err)
	}
	_, err = s.load(ctx, e.store, e.machines, e.serving)
	return executions + workflows, err
}
