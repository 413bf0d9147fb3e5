package states_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/states"
)

// The spellings, each at its number. Databases contain them: a change here changes the stored format.
var (
	flowTexts = []string{"PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTED", "SUSPENDING", "SUSPENDED", "RESUMING"}
	atomTexts = []string{
		"PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTING", "REVERTED", "REVERT_FAILURE", "IGNORE", "RETRYING",
		"CANCELLED",
	}
	jobTexts    = []string{"UNCLAIMED", "CLAIMED", "COMPLETE", "SCHEDULED", "PARKED"}
	engineTexts = []string{
		"UNDEFINED", "RESUMING", "SCHEDULING", "WAITING", "ANALYZING", "GAME_OVER", "SUCCESS", "REVERTED", "SUSPENDED",
		"FAILURE",
	}
	intentionTexts = []string{"EXECUTE", "REVERT", "RETRY", "IGNORE"}
)

func TestTexts(t *testing.T) {
	t.Parallel()
	t.Run("flow", func(t *testing.T) { t.Parallel(); testTexts[states.Flow](t, "flow", flowTexts) })
	t.Run("task", func(t *testing.T) { t.Parallel(); testTexts[states.Task](t, "task", atomTexts) })
	t.Run("retry", func(t *testing.T) { t.Parallel(); testTexts[states.Retry](t, "retry", atomTexts) })
	t.Run("job", func(t *testing.T) { t.Parallel(); testTexts[states.Job](t, "job", jobTexts) })
	t.Run("engine", func(t *testing.T) { t.Parallel(); testTexts[states.Engine](t, "engine", engineTexts) })
	t.Run("intention", func(t *testing.T) { t.Parallel(); testTexts[states.Intention](t, "intention", intentionTexts) })
}

// text is the interface of every kind and of Intention.
type text interface {
	~uint8
	fmt.Stringer
	encoding.TextMarshaler
}

func testTexts[S text, P interface {
	*S
	encoding.TextUnmarshaler
}](t *testing.T, kind string, texts []string) {
	for n, want := range texts {
		state := S(n)
		if got := state.String(); got != want {
			t.Errorf("%s number %d is %q, want %q", kind, n, got, want)
		}
		encoded, err := state.MarshalText()
		if err != nil || string(encoded) != want {
			t.Errorf("MarshalText of %s = %q, %v; want %q", state, encoded, err, want)
		}
		back := S(255)
		if err := P(&back).UnmarshalText(encoded); err != nil || back != state {
			t.Errorf("UnmarshalText(%q) = %s, %v; want %s", encoded, back, err, state)
		}
	}

	const unknown = 200
	if got, want := S(unknown).String(), kind+"(200)"; got != want {
		t.Errorf("String of a number that names nothing = %q, want %q", got, want)
	}
	if encoded, err := S(len(texts)).MarshalText(); !errors.Is(err, states.ErrUnknown) {
		t.Errorf("MarshalText of number %d = %q, %v; want ErrUnknown", len(texts), encoded, err)
	}

	for _, bad := range []string{"", "pending", " PENDING", "DONE", strings.Repeat("X", 1<<20)} {
		state := S(1)
		err := P(&state).UnmarshalText([]byte(bad))
		if !errors.Is(err, states.ErrUnknown) {
			t.Errorf("UnmarshalText(%.20q) = %v, want ErrUnknown", bad, err)
			continue
		}
		if state != 1 {
			t.Errorf("UnmarshalText(%.20q) changed its receiver to %s", bad, state)
		}
		if want := fmt.Sprintf("states: unknown state: %s %.40q (legal: %s)", kind, bad,
			strings.Join(texts, ", ")); err.Error() != want {
			t.Errorf("UnmarshalText(%.20q) says %q, want %q", bad, err, want)
		}
	}
}

func TestZeroValues(t *testing.T) {
	t.Parallel()
	var record struct {
		Flow      states.Flow
		Task      states.Task
		Retry     states.Retry
		Job       states.Job
		Engine    states.Engine
		Intention states.Intention
	}
	got, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Flow":"PENDING","Task":"PENDING","Retry":"PENDING","Job":"UNCLAIMED","Engine":"UNDEFINED","Intention":"EXECUTE"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("zero values (-want +got):\n%s", diff)
	}
}

func TestRetrySharesNumbersWithTask(t *testing.T) {
	t.Parallel()
	for _, task := range states.All[states.Task]() {
		if retry := states.Retry(task); retry.String() != task.String() {
			t.Errorf("Retry(%s) = %s", task, retry)
		}
	}
	if tasks, retries := len(states.All[states.Task]()), len(states.All[states.Retry]()); tasks != retries {
		t.Errorf("%d states of a task, %d of a retry", tasks, retries)
	}
}

func FuzzTaskText(f *testing.F) {
	for _, seed := range append(atomTexts, "", "DONE", "PENDING\x00", "\xff") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		state := states.TaskCancelled
		if err := state.UnmarshalText(in); err != nil {
			if state != states.TaskCancelled || !errors.Is(err, states.ErrUnknown) || len(err.Error()) > 1000 {
				t.Fatalf("UnmarshalText(%q) = %v, receiver %s", in, err, state)
			}
			return
		}
		if state.String() != string(in) {
			t.Fatalf("UnmarshalText(%q) = %s", in, state)
		}
	})
}
