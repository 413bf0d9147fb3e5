package asl

import "github.com/ebbflow/ebb/internal/jsontext"

// task compiles what only a Task state has.
func (c *compiler) task(s *state) *task {
	n := s.source
	t := &task{
		resource:    jsontext.Meaning[resource](n.Get("Resource")),
		timeout:     amountOf(n, "TimeoutSeconds"),
		heartbeat:   amountOf(n, "HeartbeatSeconds"),
		credentials: s.payload(n.Get("Credentials")),
	}
	if t.timeout == (amount{}) {
		t.timeout.fixed = profiles[c.profile].taskTimeout
	}
	return t
}
