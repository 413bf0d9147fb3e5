package casetest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A made is a call of a task that the run made.
type made struct {
	atom.Call

	names []string // names by which mocks and expectations identify the call
	exact string   // the name that says it best: Two/enter, where names[0] is enter
	task  string
	input atom.Value
	began time.Time     // by the clock of the case
	rank  time.Duration // orders calls that began at the same time
	ended bool
	err   error
}

// is reports whether the call has the name.
func (m *made) is(name string) bool { return name == m.exact || slices.Contains(m.names, name) }

// mocks answer in place of all tasks of a run. A call that is repeated after a crash gets the answer that it got
// before.
type mocks struct {
	machine definition.Machine
	real    *tasks.Registry // reads and writes the items of distributed Maps, and calls Lambda functions
	of      *Case

	effects *effects // what the tasks did; nil if it does not matter

	mu       sync.Mutex
	calls    []*made
	missing  []string           // states without an answer, in the order in which they were reached
	unmocked map[string]bool    // their names
	used     map[*Answer]int    // number of calls that got an answer
	answered map[string]*Answer // by the key of the call
}

func newMocks(c *Case, m definition.Machine, existing *tasks.Registry) *mocks {
	return &mocks{
		machine: m, real: existing, of: c, used: map[*Answer]int{}, answered: map[string]*Answer{},
		unmocked: map[string]bool{},
	}
}

// Task implements [engine.Tasks]: every task exists.
func (m *mocks) Task(name string) (atom.Body, error) {
	if name == asl.ReadItems || name == asl.WriteObjects {
		return m.real.Task(name)
	}
	return mocked{m, name}, nil
}

// Instead implements [engine.Chooser]: a mocked state starts no run.
func (m *mocks) Instead(task, path string) bool {
	exact, _ := nodepath.Names(path)
	return m.of.Mocks[exact] != nil ||
		slices.ContainsFunc(m.machine.Names(path, task), func(name string) bool { return m.of.Mocks[name] != nil })
}

// mocked is the body of one task.
type mocked struct {
	mocks *mocks
	task  string
}

// Reverts returns true: the mocks answer every task that the definition names to undo another one.
func (mocked) Reverts() bool { return true }

// Execute answers a call, also one that undoes.
func (b mocked) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return b.call(ctx, in, func(body atom.Body) (atom.Value, error) { return body.Execute(ctx, in) })
}

// Revert answers a call that undoes.
func (b mocked) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	return b.call(ctx, in, func(body atom.Body) (atom.Value, error) { return body.Revert(ctx, in, did) })
}

// call answers a call. If a Lambda function runs and has no mock, call uses it.
func (b mocked) call(ctx context.Context, in atom.Values, use func(atom.Body) (atom.Value, error)) (atom.Value, error) {
	call := &made{Call: atom.CurrentCall(ctx), task: b.task, input: in.Input()}
	call.names = b.mocks.machine.Names(call.Path, b.task)
	call.exact, _ = nodepath.Names(call.Path)
	call.began, call.rank = time.Now(), rank(call.Path)
	b.mocks.record(call)
	if err := pause(ctx, call.rank); err != nil {
		return nil, err
	}
	answer, err := b.mocks.answer(call)
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return b.callFunction(call, use)
	}
	if err := answer.wait(ctx); err != nil {
		return nil, err
	}
	b.mocks.mu.Lock()
	call.ended, call.err = true, answer.Failure
	b.mocks.mu.Unlock()
	if answer.Failure == nil {
		b.mocks.effects.called(&call.Call)
	}
	switch {
	case answer.Failure != nil:
		return nil, answer.Failure
	case call.Token != "":
		return answer.Result, atom.ErrEnded // the token's holder has answered
	default:
		return answer.Result, nil
	}
}

// callFunction calls a Lambda function. Virtual time stands still meanwhile.
func (b mocked) callFunction(call *made, use func(atom.Body) (atom.Value, error)) (atom.Value, error) {
	body, err := b.mocks.real.Task(b.task)
	if err != nil {
		return nil, err
	}
	result, err := use(body)
	b.mocks.mu.Lock()
	call.ended, call.err = true, err
	b.mocks.mu.Unlock()
	if err == nil {
		b.mocks.effects.called(&call.Call)
	}
	return result, err
}

// isFunction reports whether a task is a Lambda function that runs, or the service that calls them.
func (m *mocks) isFunction(task string) bool {
	return (strings.HasPrefix(task, "arn:aws:lambda:") || strings.HasPrefix(task, "arn:aws:states:::lambda:invoke")) &&
		m.real.Check(task) == nil
}

// wait waits for the virtual time that the answer takes.
func (a *Answer) wait(ctx context.Context) error {
	if a.Never {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return pause(ctx, a.After)
}

// pause waits for a virtual time. Calls that begin at the same time first pause for their ranks, so that they take and
// get their answers in that order, and a case always takes the same course.
func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rank returns a length of time below a millisecond that orders calls in branches and iterations by their indices.
func rank(path string) time.Duration {
	n := 0
	for part := range strings.SplitSeq(path, "/") {
		if _, i, ok := nodepath.CutIndex(part); ok {
			n = (n*100 + i + 1) % int(time.Millisecond)
		}
	}
	return time.Duration(n)
}

func (m *mocks) record(call *made) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call)
}

// inOrder returns the recorded calls in the order of their beginnings, and of their ranks where these are the same.
func (m *mocks) inOrder() []*made {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortStableFunc(m.calls, func(a, b *made) int {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.rank, b.rank))
	})
	return m.calls
}

// answer returns the answer to a call. It returns nil if a Lambda function answers.
func (m *mocks) answer(call *made) (*Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := call.Key() + "/" + strconv.Itoa(call.Attempt)
	if a := m.answered[key]; a != nil {
		return a, nil
	}
	from := m.of.Mocks
	if call.Revert {
		from = m.of.Undo
	}
	mocked := false
	for _, name := range append([]string{call.exact}, call.names...) {
		answers := from[name]
		mocked = mocked || answers != nil
		for i := range answers {
			a := &answers[i]
			if a.Times > 0 && m.used[a] >= a.Times || a.When != nil && compare(a.When, decoded(call.input), "", false) != nil {
				continue
			}
			m.used[a]++
			m.answered[key] = a
			return a, nil
		}
	}
	if !mocked && m.isFunction(call.task) {
		return nil, nil //nolint:nilnil // as above
	}
	if call.Revert && !mocked {
		return &Answer{Result: atom.Null}, nil
	}
	why := strconv.Quote(call.exact) + " has no mock"
	if mocked {
		why = "no answer of the mock " + strconv.Quote(call.exact) + " is for the input " + call.input.String()
	}
	if !slices.Contains(m.missing, why) {
		m.missing = append(m.missing, why)
	}
	m.unmocked[call.exact], m.unmocked[call.names[0]] = true, true
	return nil, atom.Errorf(atom.CodeNoMock, "%s", why)
}

// unreached returns the callers of tasks that the run did not reach and that have no mock. These are states, or actions
// in states. If the state is on the run's path, it called nothing, or started a run in place of the call.
func (m *mocks) unreached(path []string) []string {
	if len(m.unmocked) == 0 {
		return nil
	}
	var names []string
	for _, u := range m.machine.Uses() {
		for _, caller := range u.Callers {
			state, _, _ := strings.Cut(caller, "/")
			if exact, _ := nodepath.Names(caller); !m.mention(caller, u.Task) && !slices.Contains(path, state) &&
				!slices.Contains(names, strconv.Quote(exact)) {
				names = append(names, strconv.Quote(exact))
			}
		}
	}
	return names
}

// mention reports whether a mock may answer a caller of a task, wherever it is, or was missed before.
func (m *mocks) mention(caller, task string) bool {
	exact, _ := nodepath.Names(caller)
	names := m.machine.Names(caller, task)
	for name := range m.of.Mocks {
		if name == exact || strings.HasSuffix(name, "/"+exact) || slices.Contains(names, name) {
			return true
		}
	}
	return m.unmocked[exact]
}
