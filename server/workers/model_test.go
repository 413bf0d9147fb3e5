package workers_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A modelTask is what a task should be like.
type modelTask struct {
	run      string
	deadline time.Time
	ids      []string // that were given to workers, in order
	lease    time.Time
	result   string // as JSON; "" while it has not ended
	code     string // of its failure, as JSON
}

// A model is what workers should see.
type model struct {
	*place

	tasks []*modelTask
	words int
}

// word returns a text, as JSON, that was not said before.
func (m *model) word() string {
	m.words++
	return fmt.Sprintf(`"word %d"`, m.words)
}

const (
	modelLease = 10 * time.Second
	modelLimit = time.Minute
)

// free returns the tasks that a worker may be given.
func (m *model) free() []*modelTask {
	var free []*modelTask
	for _, task := range m.tasks {
		if task.open() && !task.lease.After(time.Now()) {
			free = append(free, task)
		}
	}
	return free
}

// open reports whether the task has not ended.
func (task *modelTask) open() bool {
	return task.result == "" && task.code == "" && time.Now().Before(task.deadline)
}

func (m *model) start(t *rapid.T) {
	task := &modelTask{run: fmt.Sprint("r", len(m.tasks)), deadline: time.Now().Add(modelLimit)}
	m.tasks = append(m.tasks, task)
	m.place.start(t, task.run)
	synctest.Wait()
}

func (m *model) poll(t *rapid.T) {
	free := m.free()
	status, said := m.ask("poll", fmt.Sprintf(`{"kinds":["do"],"wait_seconds":0,"lease_seconds":%v}`, modelLease.Seconds()))
	if len(free) == 0 {
		if status != http.StatusNoContent {
			t.Fatalf("%d %v, and there is nothing to do", status, said)
		}
		return
	}
	for _, task := range free {
		if said["run"] != task.run {
			continue
		}
		task.ids = append(task.ids, fmt.Sprint(said["id"]))
		task.lease = time.Now().Add(modelLease)
		if said["delivery"] != float64(len(task.ids)) || said["key"] != task.run+"/task/0" {
			t.Fatalf("given %v for the %d. time", said, len(task.ids))
		}
		return
	}
	t.Fatalf("%d %v, and there is something to do", status, said)
}

// say lets a worker that was given a task at any time say something of it.
func (m *model) say(t *rapid.T, what, body string) (*modelTask, bool) {
	var given []*modelTask
	for _, task := range m.tasks {
		if len(task.ids) > 0 {
			given = append(given, task)
		}
	}
	if len(given) == 0 {
		t.Skip("nobody was given anything")
	}
	task := rapid.SampledFrom(given).Draw(t, "task")
	n := rapid.IntRange(0, len(task.ids)-1).Draw(t, "taking")
	heard := task.open() && n == len(task.ids)-1
	status, said := m.ask(task.ids[n]+"/"+what, body)
	if heard && status != http.StatusOK || !heard && status != http.StatusConflict {
		t.Fatalf("%s of taking %d of %d: %d %v, want it heard: %v", what, n, len(task.ids), status, said, heard)
	}
	return task, heard
}

func (m *model) heartbeat(t *rapid.T) {
	if task, heard := m.say(t, "heartbeat", fmt.Sprintf(`{"lease_seconds":%v}`, modelLease.Seconds())); heard {
		task.lease = time.Now().Add(modelLease)
	}
}

func (m *model) complete(t *rapid.T) {
	result := m.word() // so that every result is different
	if task, heard := m.say(t, "complete", `{"result":`+result+`}`); heard {
		task.result = result
	}
	synctest.Wait()
}

func (m *model) fail(t *rapid.T) {
	code := m.word()
	if task, heard := m.say(t, "fail", `{"code":`+code+`}`); heard {
		task.code = code
	}
	synctest.Wait()
}

func (m *model) wait(t *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 20_000).Draw(t, "ms")) * time.Millisecond)
	synctest.Wait()
}

// over waits until the time of all is up, and compares how they ended.
func (m *model) over(t *rapid.T) {
	for _, task := range m.tasks {
		run := m.ended(t, task.run)
		a, err := m.store.Atom(t.Context(), task.run, "task")
		switch {
		case err != nil:
			t.Fatal(err)
		case task.result != "":
			if run.State != states.FlowSuccess || a.Result.Data.String() != task.result {
				t.Fatalf("%s is %v with %s, want %s", task.run, run.State, a.Result.Data, task.result)
			}
		case task.code == "":
			task.code = fmt.Sprintf("%q", atom.CodeTimeout)
			fallthrough
		default:
			if run.State != states.FlowFailure || fmt.Sprintf("%q", a.Failure.Code) != task.code {
				t.Fatalf("%s is %v with %v, want %s", task.run, run.State, a.Failure, task.code)
			}
		}
	}
}

// TestModel: workers do anything or nothing, in any order. A task belongs to one worker at
// a time, requests of other workers have no effect, and each run ends with the result of
// the worker whose request had an effect.
//
// Guarantee (Workers): A task has one worker at a time, and a run ends with what that worker said.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			m := &model{place: open(t, memstore.New(), once(atom.Timeout(modelLimit)))}
			defer m.stop()
			t.Repeat(map[string]func(*rapid.T){
				"start": m.start, "poll": m.poll, "heartbeat": m.heartbeat, "complete": m.complete, "fail": m.fail, "wait": m.wait,
			})
			m.over(t)
		})
	})
}
