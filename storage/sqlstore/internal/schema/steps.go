// Package schema migrates a database to the tables that this Ebb needs, and refuses databases that it must not
// change.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// Migrations are only ever added to, from the first release on. The number at the head of a name is the schema's
// version once that step is done. One transaction makes the steps that a file lacks.
//
//go:embed migrations/*.sql migrations/postgres/*.sql
var Migrations embed.FS

// The folders of the steps for files and for servers.
const (
	FileSteps   = "migrations"
	serverSteps = "migrations/postgres"
)

// first is the number of the first migration. Smaller numbers belong to checkouts of Ebb that were never released.
const first = 21

// unreleased returns the error for a database of such a checkout. It changes nothing.
func unreleased(place string, version int64) error {
	return fmt.Errorf("%w: %s has schema %d of a checkout from before version 0.1, which cannot be migrated: "+
		"finish its runs with the ebb that made it, or name another database", dberr.ErrOlder, place, version)
}

// Found describes the schema of a database and the steps that it needs.
type Found struct {
	Place   string // the file, or the server and its database, without user and password
	Version int64  // version of the tables; 0 if Ebb has no tables there
	Newest  int64  // version that this Ebb needs
	Pending []Step // steps from Version to Newest
}

// A Step is a migration from a schema to the next.
type Step struct {
	Version int64 // version after the step
	Name    string
	SQL     string // statements of the step, which run in one transaction
}

// At returns the schema that was found at a place, with the steps in a folder that it needs. If the schema cannot
// be migrated, At returns dberr.ErrOlder.
func At(place string, version int64, migrations fs.FS, folder string) (Found, error) {
	s := Found{Place: place, Version: version}
	if version > 0 && version < first {
		return s, unreleased(place, version)
	}
	names, err := fs.Glob(migrations, folder+"/*.sql")
	if err != nil {
		return s, err
	}
	for _, name := range names {
		number, title, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		m := Step{Name: strings.ReplaceAll(title, "_", " ")}
		if m.Version, err = strconv.ParseInt(number, 10, 64); err != nil {
			return s, fmt.Errorf("sqlstore: %s: a migration's name begins with its number: %w", name, err)
		}
		s.Newest = m.Version
		if m.Version <= version {
			continue
		}
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return s, err
		}
		m.SQL = string(text)
		s.Pending = append(s.Pending, m)
	}
	return s, nil
}
