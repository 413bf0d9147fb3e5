package mailbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/mailbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// A run answers a mailbox, and notes what it was asked about.
type run struct {
	stops, awaits, suspends bool
	asked                   []int64 // Next of the commands that Stops was asked about
}

func (r *run) Stops(c *inbox.Command) bool {
	r.asked = append(r.asked, c.Next)
	return r.stops
}
func (r *run) AwaitsCalls() bool { return r.awaits }
func (r *run) Suspends() bool    { return r.suspends }

// message returns a message from a text such as "3 cancel" or "4 token failed".
func message(t *testing.T, text string) storage.Message {
	t.Helper()
	var m storage.Message
	words := strings.Fields(text)
	m.Kind = grow.MessageKind(words[1])
	if _, err := fmt.Sscan(words[0], &m.N); err != nil {
		t.Fatal(err)
	}
	if _, is := inbox.CommandOf(&m); is {
		var err error
		if m, err = (&inbox.Command{Kind: m.Kind, Next: m.N}).Message("r"); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(words[0], &m.N)
	}
	if len(words) > 2 {
		m.Failure = &atom.Failure{Code: words[2]}
	}
	return m
}

func messages(t *testing.T, texts ...string) (list []storage.Message) {
	t.Helper()
	for _, text := range texts {
		list = append(list, message(t, text))
	}
	return list
}

// course returns the steps of a turn, up to Done. The box seals by advancing the messages with the numbers in ends.
func course(b *mailbox.Box, turn mailbox.Turn, r *run, ends ...int64) (steps string) {
	for {
		m, step := turn.Next(r)
		switch step {
		case mailbox.Done:
			if b.StopWaits() {
				steps += " stop waits"
			}
			return strings.TrimSpace(steps)
		case mailbox.Settle:
			steps += " settle"
		case mailbox.Seal:
			steps += " seal"
			b.Advance(func(m *storage.Message) bool { return slices.Contains(ends, m.N) })
		case mailbox.Receive:
			steps += fmt.Sprintf(" %d", m.N)
			if m.End {
				steps += "!"
			}
		}
	}
}

const all = 1 << 40

// TestOrder: in which order a run receives what has arrived.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		queue []string
		run   run
		last  int64
		ends  []int64
		want  string
	}{
		{"nothing", nil, run{}, all, nil, ""},
		{"as committed", []string{"1 token", "2 signal", "3 event"}, run{}, all, nil, "1 2 3"},
		{"up to a number", []string{"1 token", "2 signal", "3 event"}, run{}, 2, nil, "1 2"},
		{"consequences come before a command", []string{"1 token", "2 retry"}, run{}, all, nil, "1 settle 2"},
		{"each command has its consequences", []string{"1 skip", "2 retry"}, run{}, all, nil, "1 settle 2"},
		{"a suspension waits for nothing", []string{"1 token", "2 suspend"}, run{stops: true, awaits: true}, all, nil, "1 2"},
		{"a resumption of a run that goes on", []string{"1 token", "2 resume"}, run{awaits: true}, all, nil, "1 2"},
		{"a resumption waits for rest", []string{"1 token", "2 resume", "3 token"}, run{suspends: true}, all, nil, "1"},
		{
			"ends come before a cancel",
			[]string{"1 cancel", "2 signal", "3 token", "4 token"},
			run{stops: true},
			all,
			[]int64{3, 4},
			"seal 3! 4! settle 1 2",
		},
		{"ends come before an undo", []string{"1 revert", "2 token"}, run{stops: true}, all, []int64{2}, "seal 2! settle 1"},
		{"a stop has its consequences first", []string{"1 cancel"}, run{stops: true}, all, nil, "seal settle 1"},
		{
			"what comes first settles before the seal",
			[]string{"1 token", "2 cancel", "3 token"},
			run{stops: true},
			all,
			[]int64{3},
			"1 settle seal 3! settle 2",
		},
		{"a refused stop seals nothing", []string{"1 cancel", "2 token"}, run{awaits: true}, all, []int64{2}, "1 2"},
		{"other commands seal nothing", []string{"1 skip", "2 token"}, run{stops: true, awaits: true}, all, []int64{2}, "1 2"},
		{
			"each stop seals",
			[]string{"1 cancel", "2 token", "3 cancel", "4 token"},
			run{stops: true},
			all,
			[]int64{4},
			"seal 4! settle 1 2 settle seal settle 3",
		},
		{
			"a stop waits for calls",
			[]string{"1 cancel", "2 token", "3 signal"},
			run{stops: true, awaits: true},
			all,
			[]int64{2},
			"seal 2! settle stop waits",
		},
		{"a failing end waits for calls", []string{"1 token", "2 token failed", "3 skip", "4 token"}, run{awaits: true}, all, nil, "1"},
		{"a failing end", []string{"1 token failed"}, run{}, all, nil, "1"},
		{
			"a failing end of a given-up attempt waits for nothing",
			[]string{"1 cancel", "2 token failed"},
			run{stops: true, awaits: true},
			all,
			[]int64{2},
			"seal 2! settle stop waits",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var b mailbox.Box
			b.Queue(messages(t, c.queue...))
			if got := course(&b, b.Turn(c.last), &c.run, c.ends...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestStopAskedOnce: whether the run allows a stop is judged once in a turn, because the answer may need the store.
func TestStopAskedOnce(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	r := run{stops: true, awaits: true}
	b.Queue(messages(t, "1 token", "2 cancel"))
	course(&b, b.Turn(all), &r)
	if len(r.asked) != 1 {
		t.Errorf("asked %d times in a turn", len(r.asked))
	}
	if r.awaits = false; course(&b, b.Turn(all), &r) != "seal settle 2" {
		t.Error("a later turn does not seal what has begun since")
	}
}

// TestEndsRankFirst: a turn that may receive no message receives the ends of given-up attempts.
func TestEndsRankFirst(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	b.Queue(messages(t, "1 cancel", "2 token", "3 retry"))
	early := message(t, "4 token")
	b.AddEnd(&early)
	b.Advance(func(*storage.Message) bool { return true })
	if got := course(&b, b.Turn(0), &run{stops: true}); got != "4! 2!" {
		t.Errorf("got %q", got)
	}
	if b.Empty() || b.Received() != 2 {
		t.Errorf("the commands are gone: %d received", b.Received())
	}
	course(&b, b.Turn(all), &run{})
	if !b.Empty() {
		t.Error("something is left")
	}
}

// TestCancelNext: it becomes a cancel, with all rights of one, when the language has answered what follows from an end.
func TestCancelNext(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	b.Transition() // what came before does not count
	b.Queue(messages(t, "1 cancel-next gone", "2 signal"))
	r := run{stops: true}
	if got := course(&b, b.Turn(all), &r); got != "2" {
		t.Fatalf("it came before the transition: %q", got)
	}
	if b.Released(false) != 0 || b.Released(true) != 0 || b.Received() != 1 {
		t.Error("it counts as received")
	}
	b.Queue(messages(t, "3 token"))
	b.Transition()
	turn := b.Turn(all)
	_, first := turn.Next(&r)
	_, second := turn.Next(&r)
	m, third := turn.Next(&r)
	if first != mailbox.Seal || second != mailbox.Settle || third != mailbox.Receive || m.N != 1 ||
		m.Command.Kind != inbox.Cancel || m.Command.Why.Code != "gone" || !m.Command.Undo {
		t.Errorf("got %v, %v, %v, %+v", first, second, third, m)
	}
	if got := course(&b, turn, &r); got != "3" {
		t.Errorf("then %q", got)
	}
	if b.Transition(); !b.Empty() {
		t.Error("it cancels the run twice")
	}
}

// TestInTime: a command that the run allowed when it was loaded is not late afterwards; later ones may be.
func TestInTime(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	b.InTime(2)
	b.Queue(messages(t, "2 cancel", "3 cancel"))
	r := run{}
	course(&b, b.Turn(all), &r)
	if !slices.Equal(r.asked, []int64{0, 3}) {
		t.Errorf("the commands count from %v", r.asked)
	}
}

// TestLastCommand: requests to suspend the run do not count.
func TestLastCommand(t *testing.T) {
	t.Parallel()
	for want, queue := range map[int64][]string{
		0: {"1 token", "2 suspend"}, 2: {"1 retry", "2 skip", "3 suspend", "4 token"},
	} {
		var b mailbox.Box
		if b.Queue(messages(t, queue...)); b.LastCommand() != want {
			t.Errorf("%q: got %d", queue, b.LastCommand())
		}
	}
}

// TestHeldFailures: the failure of a call waits for the calls of attempts that others have ended.
func TestHeldFailures(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	b.Hold(&scheduler.Event{N: 7})
	if got := b.Held(&run{awaits: true}); got != nil {
		t.Errorf("came too early: %v", got)
	}
	if got := b.Held(&run{}); len(got) != 1 || got[0].N != 7 {
		t.Errorf("got %v", got)
	}
	if got := b.Held(&run{}); got != nil {
		t.Errorf("came twice: %v", got)
	}
}

// TestFailuresLast: a failure may make the run give up what others have ended, so it comes after what arrived with it,
// but not after a command.
func TestFailuresLast(t *testing.T) {
	t.Parallel()
	var b mailbox.Box
	b.Queue(messages(t, "1 token failed", "2 token", "3 signal", "4 token failed", "5 skip", "6 token failed", "7 token"))
	if got, want := course(&b, b.Turn(9), &run{}), "2 3 1 4 settle 5 7 6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.Add(9, messages(t, "8 token failed", "9 token"))
	turn := b.Turn(9)
	if m, _ := turn.Next(&run{}); m.N != 9 || b.Released(false) != 7 {
		t.Errorf("received %d, released at %d: the failure must make the run due", m.N, b.Released(false))
	}
}
