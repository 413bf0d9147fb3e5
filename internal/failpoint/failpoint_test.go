package failpoint_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/failpoint"
)

func TestArm(t *testing.T) {
	t.Parallel()
	hits := 0
	failpoint.Hit("arm") // no place is armed
	disarm := failpoint.Arm("arm", func() { hits++ })
	failpoint.Hit("arm")
	failpoint.Hit("another")
	if disarm(); hits != 1 {
		t.Errorf("%d hits, want 1", hits)
	}
	failpoint.Hit("arm")
	if hits != 1 {
		t.Errorf("hit after it was disarmed")
	}
}

func TestArmNth(t *testing.T) {
	t.Parallel()
	var at []int
	round := 0
	defer failpoint.ArmNth("nth", 3, func() { at = append(at, round) })()
	for round = 1; round < 6; round++ {
		failpoint.Hit("nth")
	}
	if len(at) != 1 || at[0] != 3 {
		t.Errorf("called at rounds %v, want 3", at)
	}
}

func BenchmarkHitUnarmed(b *testing.B) {
	for b.Loop() {
		failpoint.Hit("unarmed")
	}
}
