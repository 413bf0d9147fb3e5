package sfn

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// A revision is a definition with its settings, at one time in the life of a machine.
type revision struct {
	settings

	ID         string    `json:"revisionId,omitempty"` // "" for the first one
	Definition string    `json:"definition"`           // hash of the stored definition
	Updated    time.Time `json:"updated"`
}

// initialRevision is how requests and errors name the first revision.
const initialRevision = "INITIAL"

// A machine is the record of a state machine. It is also written whenever a version or an alias of the machine changes,
// so its revision in the store stands for all of them.
type machine struct {
	revision

	Name        string   `json:"name"`
	Type        string   `json:"type"`
	LastVersion int      `json:"lastVersion,omitempty"` // number of the last version; no number is used twice
	Published   int      `json:"published,omitempty"`   // number of the version of the current revision; 0 if none
	Creation    creation `json:"creation"`
	Deleting    bool     `json:"deleting,omitempty"`
	Tags        []tag    `json:"tags,omitempty"`

	key    string
	record storage.NamedRecord
}

// A creation has the parameters of CreateStateMachine that only decide whether a call repeats another.
type creation struct {
	Publish     bool   `json:"publish,omitempty"`
	Description string `json:"description,omitempty"`
}

// write returns the write of the machine as it is now.
func (m *machine) write() storage.RecordWrite {
	return records.Put(machineKind, m.key, m.record.Revision, m)
}

// machineNamed returns the machine with a name, or [storage.ErrNotFound].
func (s *Server) machineNamed(ctx context.Context, name string) (*machine, error) {
	m := &machine{key: s.key(name)}
	var err error
	if m.record, err = s.records.Read(ctx, machineKind, m.key, m); err != nil {
		return nil, err
	}
	if !m.Deleting {
		return m, nil
	}
	gone, err := s.finishDelete(ctx, m)
	if err == nil && gone {
		err = storage.ErrNotFound
	}
	return m, err
}

// machine returns the machine of an address. If there is none, it returns AWS's error.
func (s *Server) machine(ctx context.Context, a *address) (*machine, error) {
	if !a.ours {
		return nil, s.elsewhere(a, noMachine(a.text))
	}
	m, err := s.machineNamed(ctx, a.name)
	if errors.Is(err, storage.ErrNotFound) {
		err = noMachine(a.text)
	}
	return m, err
}

// change lets do change the machine of an address, and writes the machine with what do returns in one transaction. If
// another operation writes the machine meanwhile, do is called again. It returns what was written for the writes of do.
func (s *Server) change(ctx context.Context, a *address,
	do func(m *machine) ([]storage.RecordWrite, error),
) (written []storage.NamedRecord, err error) {
	err = records.Retried(ctx, func() error {
		m, err := s.machine(ctx, a)
		if err != nil {
			return err
		}
		if m.Deleting {
			return machineDeleting(s.machineARN(m.Name))
		}
		writes, err := do(m)
		if errors.Is(err, records.ErrUnchanged) {
			written = nil
			return nil
		}
		if err != nil {
			return err
		}
		written, err = s.store.WriteRecords(ctx, append(writes, m.write())...)
		return err
	})
	return written, err
}

// language is the name in stored definitions of the language in which clients write them.
const language = "asl"

// keepDefinition stores a definition, and returns its hash.
func (s *Server) keepDefinition(ctx context.Context, machine, text string) (hash string, err error) {
	hash = backend.DefinitionHash(machine, language, []byte(text))
	_, err = s.store.PutDefinition(ctx, storage.Definition{
		Hash: hash, Name: machine, Language: language, Text: []byte(text),
	})
	return hash, err
}

// runningOf returns the query for the runs of a machine's executions that have not ended.
func runningOf(m *machine) storage.RunQuery {
	return storage.RunQuery{Flow: m.Name, States: running, Brief: true}
}

// executes reports whether a run of that query is an execution of a machine, and not one of another account's machine
// with the name, or of another client of Ebb.
func (s *Server) executes(m *machine, run *storage.Run) bool {
	x, ok := executionOf(run)
	return ok && (s.shares(m.Name) || s.at(x.StateMachineID).key(m.Name) == m.key)
}

// isRunning reports whether an execution of a machine has not ended.
func (s *Server) isRunning(ctx context.Context, m *machine) (bool, error) {
	for run, err := range storage.EachRun(ctx, s.store, runningOf(m)) {
		if err != nil {
			return false, err
		}
		if s.executes(m, &run) {
			return true, nil
		}
	}
	return false, nil
}
