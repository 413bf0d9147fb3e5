package schema

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// schemaRights describes which roles can create objects in the schema of Ebb's tables. Such a role can run code
// with the rights of every Ebb process: PostgreSQL prefers its function or operator if its arguments match better
// than those of pg_catalog.
type schemaRights struct {
	Owner   string `db:"owner"`   // role that owns the schema; "" if the schema does not exist
	Trusted bool   `db:"trusted"` // the current role acts as the owner, or the owner administers the database
	Public  bool   `db:"public"`  // every role may create objects in the schema
}

const selectSchemaRights = `SELECT pg_catalog.pg_get_userbyid(n.nspowner) AS owner,
  pg_catalog.pg_has_role(n.nspowner, 'MEMBER') OR o.rolsuper OR n.nspowner = d.datdba
  OR o.rolname = 'pg_database_owner' AS trusted,
  EXISTS (SELECT 1 FROM pg_catalog.aclexplode(n.nspacl) a WHERE a.grantee = 0 AND a.privilege_type = 'CREATE') AS public
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database()
JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
WHERE n.nspname = $1`

// rights returns which roles can create objects in the schema.
func (s *Server) rights(ctx context.Context, q sqlx.QueryerContext) (schemaRights, error) {
	var found []schemaRights
	if err := sqlx.SelectContext(ctx, q, &found, selectSchemaRights, s.Name); err != nil || len(found) == 0 {
		return schemaRights{}, err
	}
	return found[0], nil
}

// refusePublic refuses a schema in which every role may create objects, as older servers allow in the schema
// public.
func (s *Server) refusePublic(r schemaRights) error {
	if !r.Public {
		return nil
	}
	return fmt.Errorf("%w: %s: every role may create objects in schema %s, and so run code as Ebb: run REVOKE CREATE "+
		"ON SCHEMA %s FROM PUBLIC",
		dberr.ErrForeign, s.Place, s.Name, pgx.Identifier{s.Name}.Sanitize())
}

// refuseOwner refuses to create tables in a schema that belongs to a role that is not trusted.
func (s *Server) refuseOwner(r schemaRights) error {
	if r.Owner == "" || r.Trusted {
		return nil
	}
	return fmt.Errorf("%w: %s: schema %s belongs to role %s, which could run code as Ebb: name another with "+
		"?schema=NAME, or migrate as that role",
		dberr.ErrForeign, s.Place, s.Name, r.Owner)
}
