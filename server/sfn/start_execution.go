package sfn

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type startExecutionInput struct {
	MachineARN string  `json:"stateMachineArn"`
	Name       string  `json:"name"`
	Input      *string `json:"input"`
	Trace      string  `json:"traceHeader"`
}

type startExecutionOutput struct {
	ExecutionARN string    `json:"executionArn"`
	Started      *aws.Time `json:"startDate"`
}

func (s *Server) startExecution(ctx context.Context, _ *aws.Caller, in *startExecutionInput) (
	*startExecutionOutput, error,
) {
	r, err := s.request(in)
	if err != nil {
		return nil, err
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	return &startExecutionOutput{r.execution.ExecutionID, aws.At(r.started)}, nil
}

// A startRequest starts one execution.
type startRequest struct {
	*Server

	of    *address // what is executed
	name  string
	input atom.Value
	trace string
	sync  bool // the client waits for the end of an Express execution

	execution execution // after start
	started   time.Time
	unsure    bool // an earlier try may have started the execution
}

// request checks the parameters of a client that starts an execution.
func (s *Server) request(in *startExecutionInput) (*startRequest, error) {
	a, err := s.machineAddress(in.MachineARN)
	if err != nil {
		return nil, err
	}
	if err := s.checkTestCase(a); err != nil {
		return nil, err
	}
	r := &startRequest{Server: s, of: a, name: in.Name, trace: in.Trace}
	if r.name == "" {
		r.name = uuid.NewString()
	} else if err := checkName(r.name); err != nil {
		return nil, err
	}
	text := "{}"
	if in.Input != nil {
		text = *in.Input
	}
	r.input, err = parseData("InvalidExecutionInput", "Invalid State Machine Execution Input", text)
	return r, err
}

// checkTestCase returns AWS's error for the ARN of a machine with an unknown test case behind #.
func (s *Server) checkTestCase(a *address) error {
	if a.test == "" {
		return nil
	}
	err := errors.New("there are no test cases (ebb serve --mock FILE has them)")
	if s.config.Mocked != nil {
		err = s.config.Mocked(a.name, a.test)
	}
	if err != nil {
		return aws.Errorf("InvalidArn", "Invalid Arn: '%s#%s': %v", a.text, a.test, err)
	}
	return nil
}

// start starts the execution. If the machine, the version or the alias changes meanwhile, it reads them again.
func (r *startRequest) start(ctx context.Context) error {
	return records.Retried(ctx, func() error {
		t, err := r.target(ctx, r.of)
		if err != nil {
			return err
		}
		return r.startOf(ctx, t)
	})
}

func (r *startRequest) startOf(ctx context.Context, t *target) error {
	express := t.machine.Type == typeExpress
	if r.sync && !express {
		return errTypeNotSupported
	}
	end := t.machine.Name + ":" + r.name
	kind := executionType
	if express {
		kind, end = expressType, end+":"+uuid.NewString()
	}
	arn := r.arn(kind, end)
	r.execution = r.newExecution(t, arn, r.name, r.trace)
	r.execution.API.TestCase = r.of.test
	if r.started.IsZero() {
		r.started = r.config.Now().Truncate(time.Microsecond)
	}
	opts := []engine.RunOption{
		engine.Input(r.input), engine.Attributes(atom.MustEncode(r.execution)), engine.Unchanged(t.unchanged()),
		engine.CreatedAt(r.started),
	}
	if labels := r.execution.labels(); labels != nil {
		opts = append(opts, engine.Labels(labels))
	}
	id := r.runID(arn)
	logs, err := r.beginLog(ctx, id, &t.revision.settings)
	if err != nil {
		return err
	}
	err = r.config.Start(ctx, id, t.revision.Definition, opts...)
	if errors.Is(err, storage.ErrUnsure) && ctx.Err() == nil {
		r.unsure = true
		err = r.config.Start(ctx, id, t.revision.Definition, opts...)
	}
	if errors.Is(err, storage.ErrExists) {
		if logs { // the lines of the execution that has the name were written
			if err := r.forgetLog(ctx, id); err != nil {
				return err
			}
		}
		return r.exists(ctx, id)
	}
	return err
}

// newExecution returns an execution of a target.
func (s *Server) newExecution(t *target, arn, name, trace string) execution {
	x := execution{
		Attributes: asl.Attributes{
			ExecutionID: arn, ExecutionName: name, RoleARN: t.revision.RoleARN, Region: s.config.Account.Region,
			StateMachineID: s.machineARN(t.machine.Name), StateMachineName: t.machine.Name,
			Express: t.machine.Type == typeExpress, Limited: true, World: s.world(),
		},
		API: facts{Revision: t.revision.ID, Updated: t.revision.Updated, Trace: trace},
	}
	if !reflect.DeepEqual(t.revision.settings, defaultSettings(t.revision.RoleARN)) {
		x.API.Settings = &t.revision.settings
	}
	if t.version != 0 {
		x.API.Version = s.versionARN(t.machine.Name, t.version)
	}
	if t.alias != "" {
		x.API.Alias = s.aliasARN(t.machine.Name, t.alias)
	}
	return x
}

// defaultSettings returns the settings of a machine that names only a role.
func defaultSettings(role string) settings {
	return settings{role, &logging{Level: levelOff}, &tracing{}, &encryption{Type: ownedKey}}
}

// labels returns the labels of the run, by which lists find the executions of versions and aliases.
func (x *execution) labels() map[string]string {
	if x.API.Version == "" {
		return nil
	}
	labels := map[string]string{versionLabel: x.API.Version}
	if x.API.Alias != "" {
		labels[aliasLabel] = x.API.Alias
	}
	return labels
}

// namesAreKept is how long after its end the name of an execution cannot be used again.
//
//limit:sfn reuse of the name of an execution | {} after its end | `ExecutionAlreadyExists`
const namesAreKept = 90 * 24 * time.Hour

// exists decides about a name that another execution has. A request that repeats the one that started a running
// execution has the same answer.
func (r *startRequest) exists(ctx context.Context, id string) error {
	run, err := r.store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) { // it was purged meanwhile
		return storage.ErrConflict
	}
	if err != nil {
		return err
	}
	_, test := TestCase(&run)
	same := bytes.Equal(run.Input.Data, r.input) && test == r.of.test
	switch {
	case same && (!run.State.Ended() || r.unsure):
		r.started = run.Created
		return nil
	case run.State.Ended() && r.config.Now().Sub(run.Ended) >= namesAreKept:
		if _, err := r.store.Purge(ctx, id); err != nil {
			return err
		}
		return storage.ErrConflict
	}
	return aws.Errorf("ExecutionAlreadyExists", "Execution Already Exists: '%s'", r.execution.ExecutionID)
}
