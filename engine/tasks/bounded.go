package tasks

import (
	"bytes"
	"strings"
)

// A head keeps the first bytes that are written to it and drops the rest. So a program that writes endlessly neither
// blocks nor fills the memory.
type head struct {
	kept  bytes.Buffer
	limit int
	over  bool // more was written than the limit
}

// Write keeps as much of p as the limit allows.
func (h *head) Write(p []byte) (int, error) {
	if free := h.limit - h.kept.Len(); len(p) > free {
		h.over = true
		h.kept.Write(p[:free])
		return len(p), nil
	}
	return h.kept.Write(p)
}

// Bytes returns the kept bytes.
func (h *head) Bytes() []byte { return h.kept.Bytes() }

// A tail keeps the last bytes that are written to it.
type tail struct {
	kept  []byte
	limit int
}

// Write keeps the end of what was written so far.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String returns the kept end as text, without blanks around it.
func (t *tail) String() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD"))
}
