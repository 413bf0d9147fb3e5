package scheduler_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// TestSameEventsSameCommands feeds the events of a run to a second scheduler:
// it commands the same, so nothing but the events decides.
//
// Guarantee (G5): The same events give the same scheduler commands.
func TestSameEventsSameCommands(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase(t, true)
		for i := range c.Interrupts { // one scheduler sees it all
			c.Interrupts[i].Mode = "suspend"
		}
		d, err := newDriver(t, c)
		if err != nil {
			t.Fatal(err)
		}
		var events []scheduler.Event
		var commands []any
		d.watch = func(ev scheduler.Event, cmds []scheduler.Command) {
			events, commands = append(events, ev), append(commands, unitless(cmds))
		}
		d.next = func(n int) int { return rapid.IntRange(-1, n-1).Draw(t, "next") }
		d.play()

		again, err := newDriver(t, c)
		if err != nil {
			t.Fatal(err)
		}
		for i, ev := range events {
			if ev.Unit != nil {
				ev.Unit = again.sched.Unit(ev.Unit.Index)
			}
			if got := unitless(again.sched.Step(ev)); !reflect.DeepEqual(got, commands[i]) {
				t.Fatalf("event %d %+v:\n%+v\nand the first time\n%+v", i, ev, got, commands[i])
			}
		}
	})
}

// unitless returns commands without their units, which differ between two schedulers, and the paths of these.
func unitless(cmds []scheduler.Command) any {
	cmds = append([]scheduler.Command{}, cmds...)
	paths := make([]string, len(cmds))
	for i := range cmds {
		if u := cmds[i].Unit; u != nil {
			paths[i], cmds[i].Unit = u.Path, nil
		}
	}
	return [2]any{cmds, paths}
}
