package sfn

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// A Loading says what [Server.Load] has done.
type Loading string

// What Load has done with a definition.
const (
	LoadedNew   Loading = "created" // the machine
	LoadedNewer Loading = "updated" // the machine
	LoadedSame  Loading = "current" // the machine has that definition
	LoadedOlder Loading = "older"   // the machine has a newer definition, and keeps it
)

// A LoadError says why a definition was stored, and is not that of a machine.
type LoadError struct{ why string }

// Error returns why.
func (e *LoadError) Error() string { return e.why }

// Load makes a definition of the operator a machine, or the definition of the machine with its name. Unlike those of
// clients, it may name any resource. A definition that was stored before the one of the machine is not put forward
// again, so that the start of a program with an old file does not undo an update. If clients choose their account, all
// accounts have the machine. If the definition cannot be that of a machine, the error is a [*LoadError].
func (s *Server) Load(ctx context.Context, def *storage.Definition, express bool) (Loading, error) {
	return s.load(ctx, def, express, false)
}

// LoadAgain is [Server.Load] for a file that has changed: its text is put forward, also if it was stored before.
func (s *Server) LoadAgain(ctx context.Context, def *storage.Definition, express bool) (Loading, error) {
	return s.load(ctx, def, express, true)
}

func (s *Server) load(ctx context.Context, def *storage.Definition, express, again bool) (Loading, error) {
	stored, err := s.store.PutDefinition(ctx, *def)
	if err != nil {
		return "", err
	}
	if !validName(def.Name) {
		return "", &LoadError{"its name has a space, or one of the characters " + forbidden}
	}
	s.shared.Store(def.Name, true)
	var done Loading
	err = records.Retried(ctx, func() error {
		m, err := s.machineNamed(ctx, def.Name)
		if errors.Is(err, storage.ErrNotFound) {
			done, err = LoadedNew, s.loadNew(ctx, &stored, express)
			return err
		}
		if err != nil {
			return err
		}
		done, err = s.loadNext(ctx, m, &stored, express, again)
		return err
	})
	return done, err
}

// loadNew creates the machine of a definition.
func (s *Server) loadNew(ctx context.Context, def *storage.Definition, express bool) error {
	given, err := s.completed(settings{RoleARN: "arn:aws:iam::" + s.home.ID + ":role/ebb"})
	if err != nil {
		return err
	}
	m := &machine{
		key: s.key(def.Name), Name: def.Name, Type: typeOf(express),
		revision: revision{settings: given, Definition: def.Hash, Updated: s.config.Now()},
	}
	_, err = s.store.WriteRecords(ctx, m.write())
	return err
}

// loadNext gives a machine a definition, unless it has that one or a newer one.
func (s *Server) loadNext(ctx context.Context, m *machine, def *storage.Definition, express, again bool) (
	Loading, error,
) {
	if m.Definition == def.Hash {
		return LoadedSame, nil
	}
	current, err := s.store.Definition(ctx, m.Definition)
	switch {
	case err != nil:
		return "", err
	case !again && def.Version < current.Version:
		return LoadedOlder, nil
	case m.Type != typeOf(express):
		return "", &LoadError{"the machine of the name is " + m.Type + ", which an update cannot change: delete it first"}
	case m.Deleting:
		return "", &LoadError{"the machine of the name is being deleted: its executions have not ended"}
	}
	m.ID, m.Definition, m.Updated = uuid.NewString(), def.Hash, s.config.Now()
	m.Published = 0
	_, err = s.store.WriteRecords(ctx, m.write())
	return LoadedNewer, err
}

// typeOf returns the type of a machine.
func typeOf(express bool) string {
	if express {
		return typeExpress
	}
	return typeStandard
}

// LoadActivity creates an activity, unless it exists.
func (s *Server) LoadActivity(ctx context.Context, name string) error {
	_, err := s.createActivity(ctx, nil, &createActivityInput{Name: name})
	return err
}

// LoadVersion publishes the definition of a machine of [Server.Load] as a version, unless it is one. If an alias is
// given, it routes to that version.
func (s *Server) LoadVersion(ctx context.Context, machine, alias string) error {
	v, err := s.publishStateMachineVersion(ctx, nil, &publishInput{ARN: s.machineARN(machine)})
	if err != nil || alias == "" {
		return err
	}
	routes := []routeParameter{{v.VersionARN, fullWeight}}
	_, err = s.createStateMachineAlias(ctx, nil, &createStateMachineAliasInput{Name: alias, Routing: routes})
	if isCode(err, "ConflictException") {
		_, err = s.updateStateMachineAlias(ctx, nil,
			&updateStateMachineAliasInput{ARN: s.aliasARN(machine, alias), Routing: routes})
	}
	return err
}
