package atom

import (
	"context"
	"fmt"
	"strconv"
)

// A Call identifies one call of an atom. The engine puts it into
// the context that Execute and Revert receive.
type Call struct {
	Run         string // the run's id
	Path        string // the atom's path in the run
	Incarnation int    // how often a retry has restarted the atom, from 0
	Attempt     int    // number of the attempt within this incarnation, from 1
	Revert      bool   // the call is a Revert
	Fence       int64  // the owner's fencing number, for systems that compare it
	Trace       string // the W3C traceparent with which the run was started; "" if there is none
	Token       string // lets another party end the attempt, see [Token]; "" if none may
	PlainKey    bool   // Key has the run's id as it is; set by the engine where no other run can have the same key
}

// Key returns the call's idempotency key: run/path/incarnation, followed by /revert
// for a revert. It is the same for every attempt and every owner, and no other work has it. Therefore, Key escapes a
// slash in the id of a run: q%2FShip[0]/pay/0 is work of run q/Ship[0], and q/Ship[0]/pay/0 is work of run q.
func (c *Call) Key() string {
	run := c.Run
	if !c.PlainKey {
		run = escape(run)
	}
	key := run + "/" + c.Path + "/" + strconv.Itoa(c.Incarnation)
	if c.Revert {
		key += "/revert"
	}
	return key
}

// escape returns an id without slashes, and without what a header of HTTP loses: control characters, and a blank at the
// start. It writes them as a URL does.
func escape(id string) string {
	lost := func(i int, b byte) bool {
		return b < ' ' || b == 0x7f || b == '/' || b == '%' || b == ' ' && i == 0
	}
	var out []byte
	for i := range len(id) {
		switch b := id[i]; {
		case lost(i, b):
			if out == nil {
				out = append(make([]byte, 0, len(id)+len("%2F")), id[:i]...)
			}
			out = fmt.Appendf(out, "%%%02X", b)
		case out != nil:
			out = append(out, b)
		}
	}
	if out == nil {
		return id
	}
	return string(out)
}

type callKey struct{}

// WithCall returns a context in which [CurrentCall] finds c, to call a task in a test.
func WithCall(ctx context.Context, c *Call) context.Context { return WithHost(ctx, c, nil) }

// WithHost returns a context in which [CurrentCall] finds c, and in which h serves the atom, see [Host]. Engines call
// it for each call of a task; programs need it only to call a task in a test.
func WithHost(ctx context.Context, c *Call, h Host) context.Context {
	return new(HostContext).Of(ctx, c, h)
}

// A HostContext is a context as [WithHost] returns it, in memory that an engine reuses. The zero value is ready for
// [HostContext.Of]. Programs use WithHost.
type HostContext struct {
	context.Context //nolint:containedctx // it is a context itself

	call *Call
	host Host
}

// Of returns a context as [WithHost] does, in the memory of h. The context is valid until the next Of of h.
func (h *HostContext) Of(ctx context.Context, c *Call, host Host) context.Context {
	*h = HostContext{ctx, c, host}
	return h
}

// Value implements [context.Context].
func (h *HostContext) Value(key any) any {
	if key == (callKey{}) {
		return h
	}
	return h.Context.Value(key)
}

// hostedOf returns the innermost call that ctx belongs to, or nil.
func hostedOf(ctx context.Context) *HostContext {
	h, _ := ctx.Value(callKey{}).(*HostContext)
	return h
}

// hostOf returns the host of the call that ctx belongs to, or nil.
func hostOf(ctx context.Context) Host {
	if h := hostedOf(ctx); h != nil {
		return h.host
	}
	return nil
}

// CurrentCall returns the call that ctx belongs to, or the zero Call outside
// of one.
func CurrentCall(ctx context.Context) Call {
	if h := hostedOf(ctx); h != nil {
		return *h.call
	}
	return Call{}
}

// IdempotencyKey returns the key to pass to systems that recognize repeated
// requests. Within a Revert it is the key of the Execute that is undone, so that an
// effect whose outcome is unknown can be looked up. For the requests of the revert
// itself use [RevertKey].
func IdempotencyKey(ctx context.Context) string {
	c := CurrentCall(ctx)
	c.Revert = false
	return c.Key()
}

// RevertKey returns the idempotency key of the revert itself.
func RevertKey(ctx context.Context) string {
	c := CurrentCall(ctx)
	c.Revert = true
	return c.Key()
}

// Attempt returns which attempt of its atom this call is, from 1.
func Attempt(ctx context.Context) int { return CurrentCall(ctx).Attempt }
