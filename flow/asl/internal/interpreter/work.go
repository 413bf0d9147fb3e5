package interpreter

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// dispatchRemote lets the holder of the attempt's token end the attempt. The holder
// is the called service, or the worker that takes work of the activity's ARN.
func (w *Interpreter) dispatchRemote(spec *grow.Spec) {
	switch t := w.State.Task; {
	case t.Activity:
		spec.Token, spec.Queue, spec.Task = w.token, t.URI, ""
	case t.Pattern == syntax.PatternToken:
		spec.Token, spec.Report = w.token, true
	}
}

// newToken begins an attempt with a token of its own.
func (w *Interpreter) newToken() {
	if t := w.State.Task; t.IsRemote() || t.Starts() && t.Pattern != "" {
		w.token, w.ctx, w.ctxQuery = w.Ask.Token(), nil, nil
	}
}

// taken records that a worker took the work of an activity, or that a task with a token has answered its call. n is the
// node's note.
func (w *Interpreter) taken(n *levelState) {
	t := w.State.Task
	if cause := &w.Ask.Cause; cause.Kind == grow.Called && cause.Run && n.child != nil {
		w.submitted(w.startedAnswer(n.child, w.Ask.Now))
	} else if cause.Kind == grow.Called {
		w.submitted(cause.Result)
	} else {
		details := newDetails()
		if worker, err := jsontext.NewReader(cause.Result.JSON()).String(); err == nil && worker != "" {
			details.String("workerName", worker)
		}
		w.event(taskEvents(t)+"Started", ended(details))
	}
	n.last = w.last
	w.growth.Note = n.encode()
}

// submitted writes the event that the called service has answered and the task now waits for its token to end.
func (w *Interpreter) submitted(output atom.Value) {
	w.record(grow.Event{
		Type: "TaskSubmitted", Name: w.State.Name, Details: taskDetails(w.State.Task), Key: "output",
		Body: output,
	})
}

// work adds the node that runs a Task state's task.
func (w *Interpreter) work() (Step, *stateerror.Error) {
	spec, f := w.WorkSpec(w.upcoming())
	if f != nil {
		return Step{}, f
	}
	spec.Name, spec.Note = w.visitName(), w.note(w.remembers())
	w.growth.Add = append(w.growth.Add, spec)
	return Step{Waits: true}, nil
}

// WorkSpec returns the specification of a node without its name and note, and writes the event that it is scheduled.
func (w *Interpreter) WorkSpec(name string) (grow.Spec, *stateerror.Error) {
	t := w.State.Task
	w.newToken()
	input, f := w.Effective()
	if f != nil {
		return grow.Spec{}, f
	}
	timeout, f := w.Amount(&t.Timeout, 1, syntax.MaxSeconds)
	if f != nil {
		return grow.Spec{}, f
	}
	heartbeat, f := w.Amount(&t.Heartbeat, 1, syntax.MaxSeconds)
	if f != nil {
		return grow.Spec{}, f
	}
	role, f := w.role()
	if f != nil {
		return grow.Spec{}, f
	}
	if exists := w.Ask.Queue; t.Activity && exists != nil {
		if err := exists(t.URI); err != nil {
			return grow.Spec{}, stateerror.Runtimef("%v", err)
		}
	}
	w.scheduled(input, timeout, heartbeat, role)
	spec := grow.Spec{
		Kind: grow.Work, Task: t.URI, Input: input.Encoded(),
		Timeout: time.Duration(timeout) * time.Second, Heartbeat: time.Duration(heartbeat) * time.Second,
	}
	if t.Starts() {
		x, f := w.asked(input, name)
		if f != nil {
			w.attemptFailed(f)
			return grow.Spec{}, f
		}
		w.child = x
		w.start(&spec, x)
	} else {
		w.dispatchRemote(&spec)
	}
	switch r := w.State.Revert; {
	case !r.Reverts():
		spec.Pivot = r != nil && r.Never
		spec.LeaveUndone(w.State.HasEffect(), w.Machine.Undoes)
	default:
		spec.Undo = &grow.Undo{Task: r.URI, Note: w.State.Name, Policy: r.Policy()}
	}
	return spec, nil
}

// role returns the role for a task; "" for none.
func (w *Interpreter) role() (string, *stateerror.Error) {
	if w.State.Task.Credentials == nil {
		return "", nil
	}
	value, f := w.State.Task.Credentials.Of(w.View(w.Input))
	if f != nil {
		return "", f
	}
	tree, f := value.Look()
	if f != nil {
		return "", f
	}
	credentials, _ := tree.(*jsontext.OrderedMap)
	named, _ := credentials.Get("RoleArn")
	role, ok := named.(string)
	if !ok {
		return "", stateerror.Runtimef("The RoleArn of Credentials must be a string")
	}
	return role, nil
}

// remembers reports whether the note must contain the state's raw input, which is needed after its work has started:
// to pass it on, or to start again.
func (w *Interpreter) remembers() bool {
	s := w.State
	if s.Out.NeedsInput() || len(s.Retry) > 0 || s.Kind != syntax.TaskState {
		return true
	}
	if s.Arguments != nil || s.InputPath.Path != nil || s.InputPath.None { // otherwise the node has it
		return true
	}
	for i := range s.Catch {
		if s.Catch[i].Out.NeedsInput() {
			return true
		}
	}
	return false
}

// TaskEnded continues with a task's result.
func (w *Interpreter) TaskEnded(text atom.Value) (Step, *stateerror.Error) {
	result, f := w.taskResult(text)
	if f != nil {
		return Step{}, f
	}
	return w.Leave(&w.State.Out, result)
}

// taskResult returns a task's result, and writes the event of it.
func (w *Interpreter) taskResult(text atom.Value) (*data.Value, *stateerror.Error) {
	if len(text) == 0 {
		text = atom.Null
	}
	result := data.Text(text)
	if result.TooLarge() {
		f := stateerror.TooLarge(w.taskName())
		f.Local = false
		w.attemptFailed(f)
		return nil, f
	}
	w.attemptSucceeded(result)
	return result, nil
}

// taskName returns how the error of a result that is too large names the task.
func (w *Interpreter) taskName() string {
	if t := w.State.Task; t.Action != "" {
		return t.Service
	}
	return w.State.Task.URI
}

// TaskFailed continues with a task's failure.
func (w *Interpreter) TaskFailed(failure *atom.Failure) *stateerror.Error {
	f := stateerror.OfTask(failure, w.taskName())
	w.attemptFailed(f)
	return f
}

// rescue applies the state's Retry, then its Catch, to an error.
func (w *Interpreter) rescue(f *stateerror.Error) (Step, *stateerror.Error) {
	s := w.State
	for i := range s.Retry {
		r := s.Retry[i]
		if !f.Matches(r.Errors, w.Rules().AllMatchesAll) {
			continue
		}
		for len(w.Tries) < len(s.Retry) {
			w.Tries = append(w.Tries, 0)
		}
		if int64(w.Tries[i]) >= r.Attempts {
			break
		}
		w.Tries[i]++
		w.Machine.Through(r)
		w.ctx, w.ctxQuery, w.broken = nil, nil, false
		return w.again(r.Delay(w.Tries[i], w.Ask.Random))
	}
	w.tellBroken()
	for i := range s.Catch {
		if f.Matches(s.Catch[i].Errors, w.Rules().AllMatchesAll) {
			return w.catches(i, f)
		}
	}
	return Step{}, f
}

// again runs the state's node again. If the node failed, it is the same node. If it succeeded and its result could
// not be used, it is a new node. If there was no node, the state starts again.
func (w *Interpreter) again(after time.Duration) (Step, *stateerror.Error) {
	due := w.Ask.Now.Add(after)
	failed := w.Ask.Cause.Kind == grow.Failed
	switch {
	case !w.attempted:
		w.paused = true
		w.growth.Add = append(w.growth.Add, grow.Spec{Name: w.visitName(), Kind: grow.Timer, Due: due, Note: w.note(true)})
		return Step{Waits: true}, nil
	case !failed && w.State.Undoes():
		return w.compensate(&syntax.Compensation{Inside: true}, &intent{due: due})
	case failed:
		return w.workAgain(after)
	case w.Ask.Cause.Kind == grow.JoinFailed:
		return w.forkAgain(after)
	}
	return w.anew(due)
}

// workAgain runs the task again.
func (w *Interpreter) workAgain(after time.Duration) (Step, *stateerror.Error) {
	spec, f := w.WorkSpec(w.Ask.Cause.Name)
	if f != nil {
		return Step{}, f
	}
	w.growth.Again = &grow.Again{After: after, Note: w.note(true), Token: spec.Token, Child: spec.Child}
	if _, isFixed := w.State.Arguments.(expression.Fixed); !isFixed && w.State.Arguments != nil {
		// They may read the count of retries.
		w.growth.Again.Input = spec.Input
	}
	return Step{Waits: true}, nil
}

// visitName returns the name of the next node of the state: Pay, then Pay#2.
func (w *Interpreter) visitName() string {
	name := w.State.Name
	n := w.used + w.retries() + 1
	if w.paused {
		n-- // it comes before the attempt
	}
	if w.State.Repeats {
		w.visits[name]++
		n = w.visits[name]
	}
	return nodepath.Visit(nodepath.Escape(name), n)
}

// place returns the path of the state at the top level, for the failure of the run: that of its node, or of the node
// that it was about to have. A state that only computes has no number in its path, because the level does not count
// the visits of such a state.
func (w *Interpreter) place() string {
	switch {
	case w.node != "":
		return w.node
	case w.State.Repeats:
		return w.upcoming()
	}
	return nodepath.Escape(w.State.Name)
}

// upcoming returns the name that visitName will return next.
func (w *Interpreter) upcoming() string {
	before := w.visits[w.State.Name]
	name := w.visitName()
	if w.State.Repeats {
		w.visits[w.State.Name] = before
	}
	return name
}

// note returns the note that the interpreter needs when the state's node ends.
func (w *Interpreter) note(withInput bool) atom.Value { return w.noted(withInput).encode() }

func (w *Interpreter) noted(withInput bool) *levelState {
	n := &levelState{
		state: w.State.Name, entered: w.entered, at: w.EnteredAt, last: w.last, tries: w.Tries,
		visits: w.visits, paused: w.paused, child: w.child, used: w.used, redrives: w.redrives,
	}
	if withInput {
		n.input = w.Input
	}
	return n
}
