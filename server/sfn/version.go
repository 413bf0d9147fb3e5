package sfn

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// A version is the record of a published version. It does not change.
type version struct {
	revision

	Number      int    `json:"number"`
	Description string `json:"description,omitempty"`

	record storage.NamedRecord
}

// versionKey returns the key of a version. The keys of a machine's versions are in the order of their numbers.
func (s *Server) versionKey(machine string, number int) string {
	return fmt.Sprintf("%s:%010d", s.key(machine), number)
}

// version returns a version of a machine, or [storage.ErrNotFound].
func (s *Server) version(ctx context.Context, machine string, number int) (*version, error) {
	v := &version{}
	var err error
	v.record, err = s.records.Read(ctx, versionKind, s.versionKey(machine, number), v)
	return v, err
}

// publish publishes the current revision of a machine. It returns the number of the version, and the write of a new
// version; no write if the revision was published before.
func (s *Server) publish(ctx context.Context, m *machine, description string) (int, []storage.RecordWrite, error) {
	if m.Published != 0 {
		return m.Published, nil, nil
	}
	count, err := s.store.CountRecords(ctx, versionKind, m.key+":")
	if err != nil {
		return 0, nil, err
	}
	if err := s.quotas.Within(QuotaVersions, int64(count)+1, "ServiceQuotaExceededException"); err != nil {
		return 0, nil, err
	}
	m.LastVersion++
	m.Published = m.LastVersion
	v := version{revision: m.revision, Number: m.LastVersion, Description: description}
	return v.Number, []storage.RecordWrite{records.Put(versionKind, s.versionKey(m.Name, v.Number), 0, v)}, nil
}

// A target is what an ARN of a machine, a version or an alias selects for an execution.
type target struct {
	machine  *machine
	revision *revision
	version  int    // number of the version; 0 if the ARN names the machine
	alias    string // name of the alias; "" if the ARN names none
}

// unchanged returns the condition that the target is still what it was when it was read.
func (t *target) unchanged() storage.RecordCheck {
	return storage.RecordCheck{Kind: machineKind, Key: t.machine.key, Revision: t.machine.record.Revision}
}

// target returns what an address of a machine selects. An alias selects one of its versions by weight. If there is no
// such machine, version or alias, or if the machine is being deleted, target returns AWS's error.
func (s *Server) target(ctx context.Context, a *address) (*target, error) {
	m, err := s.machine(ctx, a)
	if err != nil {
		return nil, err
	}
	if m.Deleting {
		return nil, machineDeleting(s.machineARN(m.Name))
	}
	t := &target{machine: m, revision: &m.revision, version: a.version()}
	if t.alias = a.alias(); t.alias != "" {
		al, err := s.alias(ctx, m.Name, t.alias)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, noMachine(a.text)
		}
		if err != nil {
			return nil, err
		}
		t.version = al.route()
	}
	if t.version != 0 {
		v, err := s.version(ctx, m.Name, t.version)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, noMachine(a.text)
		}
		if err != nil {
			return nil, err
		}
		t.revision = &v.revision
	}
	return t, nil
}
