package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

// A Schema compares the tables of a database with the tables that this version of Ebb needs.
type Schema struct {
	Place   string      // the file, or the server and its database, without user and password
	Version int64       // version of the tables in the database; 0 if there are none
	Newest  int64       // version that this Ebb needs
	Pending []Migration // the steps from Version to Newest, in order
}

// A Migration is one step from a version of the tables to the next one.
type Migration struct {
	Version int64  // version of the tables after the step
	Name    string // purpose of the step
	SQL     string // the statements of the step, which run in one transaction
}

// Script returns the pending steps as a script for psql, for operators who change tables themselves.
func (s *Schema) Script() string {
	var b strings.Builder
	for _, m := range s.Pending {
		fmt.Fprintf(&b, "-- %s\nBEGIN;\n%sCOMMIT;\n", m.Name, m.SQL)
	}
	return b.String()
}

// schemaOf converts the result of package schema.
func schemaOf(found schema.Found) Schema {
	s := Schema{Place: found.Place, Version: found.Version, Newest: found.Newest}
	for _, step := range found.Pending {
		s.Pending = append(s.Pending, Migration(step))
	}
	return s
}

// SchemaOf returns the schema of the database that the DSN names, and changes nothing. It returns [ErrForeign] and
// [ErrNewer] as [Open] does.
func SchemaOf(ctx context.Context, dsn string) (Schema, error) {
	if postgres.IsDSN(dsn) {
		return onServer(dsn, schema.Migrations, func(s *schema.Server) (schema.Found, error) { return s.Look(ctx) })
	}
	file, err := dbfile.Path(dsn)
	if err != nil {
		return Schema{}, err
	}
	s := &store{place: file, dialect: &fileDialect, file: file, steps: schema.Migrations}
	found, err := s.found(ctx)
	if err != nil {
		return Schema{}, dberr.Failed(file, "open", err)
	}
	all, err := schema.At(file, found.Version, schema.Migrations, schema.FileSteps)
	return schemaOf(all), err
}

// Migrate migrates the database that the DSN names to the schema that this Ebb needs, and returns the schema as it
// was before. Each step is one transaction. If several processes call Migrate, they run one after the other. [Open]
// migrates a file. On a server the operator decides when to migrate, because every process that uses the database
// must work with the new schema.
func Migrate(ctx context.Context, dsn string) (Schema, error) {
	if postgres.IsDSN(dsn) {
		return onServer(dsn, schema.Migrations, func(s *schema.Server) (schema.Found, error) { return s.Migrate(ctx) })
	}
	before, err := SchemaOf(ctx, dsn)
	if err != nil {
		return before, err
	}
	s, err := openStore(ctx, dsn)
	if err != nil {
		return before, err
	}
	return before, s.Close() //nolint:contextcheck // closes what is open, also after the end of ctx
}

// onServer calls f with the schema of a database on a server.
func onServer(dsn string, steps fs.FS, f func(*schema.Server) (schema.Found, error)) (Schema, error) {
	s, err := postgres.Parse(dsn)
	if err != nil {
		return Schema{}, err
	}
	s.Open(maxConnections, arrays.Register)
	found, err := f(serverSchema(s, steps))
	return schemaOf(found), errors.Join(dberr.Failed(s.Place, "migrate", err), s.DB.Close())
}

// serverSchema returns the schema of a database on a server.
func serverSchema(s *postgres.Server, steps fs.FS) *schema.Server {
	return &schema.Server{Place: s.Place, Name: s.Schema, Steps: steps, DB: s.DB}
}
