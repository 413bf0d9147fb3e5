package guard_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/guard"
)

// TestCall calls code that returns, panics or ends its goroutine. The caller goes on in each case.
func TestCall(t *testing.T) {
	t.Parallel()
	called := false
	if err := guard.Call(func() { called = true }); err != nil || !called {
		t.Errorf("got %v, called %v", err, called)
	}
	if err := guard.Call(runtime.Goexit); !errors.Is(err, guard.ErrEnded) {
		t.Errorf("after Goexit: %v", err)
	}
	err := guard.Call(func() { panic("no stock") })
	var p *guard.PanicError
	if !errors.As(err, &p) || p.Value != "no stock" || p.Error() != "panic: no stock" || !strings.Contains(p.Stack, "guard_test.go") {
		t.Errorf("after a panic: %#v", err)
	}
	if err := guard.Call(func() { panic(nil) }); err == nil { //nolint:govet // code of users may
		t.Error("a panic with nil passes as a return")
	}
}
